from tests.processing.conftest import desk

__all__ = ["desk"]
