"""Calibrations of the models that answer queries, read once per process."""

from dataclasses import dataclass, field

from muniment.search.embedding.calibration import ModelCalibration
from muniment.search.query.repository import SearchRepository
from muniment.storage.db.principal import Principal
from muniment.storage.db.work import Work
from muniment.storage.vectors.port import IndexingVariant


@dataclass(frozen=True)
class CalibrationCache:
    """The calibration of a variant never changes once it is stored: it has thousands of numbers and is kept."""

    _known: dict[str, ModelCalibration] = field(default_factory=dict)

    async def find(self, work: Work[Principal], model: IndexingVariant) -> ModelCalibration | None:
        """Return the calibration of the variant, or `None` if the model is not measured yet."""
        if model.fingerprint not in self._known:
            stored = await SearchRepository(work.session).find_calibration(model)
            if stored is None:
                return None
            self._known[model.fingerprint] = ModelCalibration.from_json(stored)
        return self._known[model.fingerprint]
