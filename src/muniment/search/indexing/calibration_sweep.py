"""The sweep that calibrates embedding models whose variants have no calibration yet."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import structlog
from sqlalchemy import select, update

from muniment.errors import MunimentError
from muniment.search.embedding.calibration import find_measured
from muniment.search.embedding.port import Embedder
from muniment.search.tables import IndexingVariantRow
from muniment.search.variants import variant_for
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database

log = structlog.get_logger()


@dataclass(frozen=True)
class CalibrationSweep:
    """Measures each installed model once. Until then search has no lower limit of similarity."""

    database: Database
    build_embedders: Callable[[], Sequence[Embedder]]

    async def run(self) -> None:
        """Calibrate the variants of installed models. A model that does not respond is tried again by the next run."""
        async with self.database.service_work(Service()) as work:
            uncalibrated = select(IndexingVariantRow.fingerprint).where(IndexingVariantRow.calibration.is_(None))
            fingerprints = set(await work.session.scalars(uncalibrated))
        if not fingerprints:
            return
        for embedder in self.build_embedders():
            try:
                if (fingerprint := variant_for(embedder).fingerprint) in fingerprints:
                    await self._calibrate(embedder, fingerprint)
            except MunimentError as error:
                log.warning("index.calibration_failed", model=embedder.model, error=type(error).__name__)
            finally:
                await embedder.close()

    async def _calibrate(self, embedder: Embedder, fingerprint: str) -> None:
        # Imported here: a process that never measures does without NumPy until it embeds.
        from muniment.search.embedding.calibration_measurement import calibrate

        calibration = find_measured(embedder) or await calibrate(embedder)
        async with self.database.service_work(Service()) as work:
            measured = update(IndexingVariantRow).filter_by(fingerprint=fingerprint, calibration=None)
            await work.session.execute(measured.values(calibration=calibration.as_json()))
        log.info("index.calibrated", model=embedder.model, languages=sorted(calibration.languages))
