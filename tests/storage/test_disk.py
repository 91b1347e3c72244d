import shutil
from pathlib import Path

from muniment.storage.disk import GIBIBYTE, default_floor_bytes, disk_floor_bytes, free_bytes, has_free_space


def test_floor_is_the_smaller_of_one_gibibyte_and_a_twentieth(tmp_path: Path) -> None:
    assert default_floor_bytes(100 * GIBIBYTE) == GIBIBYTE
    assert default_floor_bytes(10 * GIBIBYTE) == GIBIBYTE // 2
    assert disk_floor_bytes(tmp_path, None) == default_floor_bytes(shutil.disk_usage(tmp_path).total)


def test_setting_wins_even_when_it_is_zero(tmp_path: Path) -> None:
    assert disk_floor_bytes(tmp_path, 12345) == 12345
    assert disk_floor_bytes(tmp_path, 0) == 0


def test_no_room_below_the_floor(tmp_path: Path) -> None:
    assert has_free_space(tmp_path, 0)
    assert not has_free_space(tmp_path, 2 * free_bytes(tmp_path) + 1)
