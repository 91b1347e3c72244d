"""Only the adapter knows the task engine: another engine must be possible without other changes."""

from pathlib import Path

import muniment

SOURCE = Path(muniment.__file__).parent
ADAPTER = SOURCE / "storage" / "tasks" / "procrastinate"
ALLOWED = (ADAPTER, SOURCE / "bootstrap" / "tasks.py", SOURCE / "migrations")
LOGGING = SOURCE / "telemetry" / "logs.py"
"""Names the library's logger, among others, to silence it."""


def is_allowed(file: Path) -> bool:
    return file == LOGGING or any(file.is_relative_to(path) for path in ALLOWED)


def test_no_module_outside_the_adapter_names_procrastinate() -> None:
    leaks = [
        f"{file.relative_to(SOURCE)}:{number}"
        for file in sorted(SOURCE.rglob("*.py"))
        if not is_allowed(file)
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if "procrastinate" in line.lower()
    ]

    assert leaks == []
    assert "procrastinate_" not in LOGGING.read_text(encoding="utf-8")
