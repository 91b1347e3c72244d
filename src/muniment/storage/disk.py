"""How much room the disk has: uploads stop before PostgreSQL runs out."""

import shutil
from pathlib import Path

GIBIBYTE = 1024**3


def free_bytes(path: Path) -> int:
    """What an ordinary user may still write to the disk that holds `path`."""
    return shutil.disk_usage(path).free


def disk_floor_bytes(path: Path, configured: int | None) -> int:
    """Below this much free disk nothing is taken in: the setting, else the smaller of 1 GiB and 5 % of the disk."""
    if configured is not None:
        return configured
    return default_floor_bytes(shutil.disk_usage(path).total)


def default_floor_bytes(disk_bytes: int) -> int:
    return min(GIBIBYTE, disk_bytes // 20)


def has_free_space(path: Path, configured: int | None) -> bool:
    return free_bytes(path) >= disk_floor_bytes(path, configured)
