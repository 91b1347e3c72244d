from tests.processing.conftest import worker_env

__all__ = ["worker_env"]
