import os

import pytest

from muniment.embedded.postgres import shared_buffers

GIB = 2**30


@pytest.mark.parametrize(
    ("memory", "buffers"), [(GIB // 2, "128MB"), (4 * GIB, "512MB"), (8 * GIB, "1024MB"), (64 * GIB, "4096MB")]
)
def test_an_eighth_of_the_memory_but_neither_too_little_nor_all_there_is(
    memory: int, buffers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = {"SC_PHYS_PAGES": memory // 4096, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(os, "sysconf", machine.__getitem__)
    assert shared_buffers() == buffers
