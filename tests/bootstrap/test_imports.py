import subprocess
import sys

import pytest

HEAVY_LIBRARIES = {
    "apprise",
    "httpx",
    "langchain_core",
    "langgraph",
    "lxml",
    "mcp",
    "numpy",
    "obstore",
    "onnxruntime",
    "opentelemetry.exporter",
    "opentelemetry.sdk",
    "PIL",
    "procrastinate",
    "py3langid",
    "pypdfium2",
    "qdrant_client",
    "selectolax",
    "tokenizers",
}
SERVER_LIBRARIES = {"alembic", "cryptography", "fastapi", "sqlalchemy", "uvicorn"}


@pytest.mark.parametrize(
    ("program", "unwanted"),
    [
        pytest.param("import muniment.api", HEAVY_LIBRARIES | {"muniment.processing.pipeline"}, id="api"),
        pytest.param("import muniment.cli", HEAVY_LIBRARIES | SERVER_LIBRARIES, id="cli"),
    ],
)
def test_import_leaves_out_what_only_other_processes_or_some_installations_need(
    program: str, unwanted: set[str]
) -> None:
    program += "; import sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split()
    assert unwanted & set(loaded) == set()
