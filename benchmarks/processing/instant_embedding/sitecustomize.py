"""Replace the bundled model by constant vectors in every process that has this folder in PYTHONPATH.

Documents per second are measured without the model, which is measured by itself. Tokens are still counted.
"""

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

MODEL_MODULE = "muniment.search.embedding.local_model"
DIMENSIONS = 384


class InstantModelLoader(Loader):
    """Loads the module of the model, without what computes vectors."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        vars(module)["embed_texts"] = _constant_vectors


class InstantModelFinder(MetaPathFinder):
    """Finds the module of the model and nothing else."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target) if fullname == MODEL_MODULE else None
        if spec is not None and spec.loader is not None:
            spec.loader = InstantModelLoader(spec.loader)
        return spec


def _constant_vectors(texts: list[str], threads: int) -> list[list[float]]:
    return [[1.0] + [0.0] * (DIMENSIONS - 1) for _ in texts]


sys.meta_path.insert(0, InstantModelFinder())
