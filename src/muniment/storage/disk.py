"""Free disk space, and the limit below which uploads are rejected, before PostgreSQL runs out of space."""

import shutil
from pathlib import Path

GIBIBYTE = 1024**3


def free_bytes(path: Path) -> int:
    """Return how much an ordinary user can still write to the disk that holds `path`."""
    return shutil.disk_usage(path).free


def disk_floor_bytes(path: Path, configured: int | None) -> int:
    """Return the free space below which uploads are rejected: the setting, or the smaller of 1 GiB and 5 % of the
    disk."""
    if configured is not None:
        return configured
    return default_floor_bytes(shutil.disk_usage(path).total)


def default_floor_bytes(disk_bytes: int) -> int:
    """Return the smaller of 1 GiB and 5 % of the disk."""
    return min(GIBIBYTE, disk_bytes // 20)


def has_free_space(path: Path, configured: int | None) -> bool:
    """Return whether the disk that holds `path` has more free space than the limit."""
    return free_bytes(path) >= disk_floor_bytes(path, configured)
