"""Going down a tree of folders by descriptors, one from the other, so that no link inside it is followed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from muniment.storage.blobs.keys import is_part
from muniment.storage.blobs.port import BlobInfo


@contextmanager
def opened(folder: Path | str, parent: int | None = None) -> Iterator[int]:
    """A descriptor of `folder`, which is a whole path or, with `parent`, one name."""
    flags = os.O_RDONLY | os.O_DIRECTORY | (os.O_NOFOLLOW if parent is not None else 0)
    descriptor = os.open(folder, flags, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def walk(folder: int, prefix: str, after: str, *, path: str = "") -> Iterator[BlobInfo]:
    """The files below `folder` as objects, sorted by key; `path` is the key so far."""
    known, has_more, _ = prefix.removeprefix(path).partition("/")
    # A prefix that names the next folder whole: there is no need to read the names of all that lie beside it.
    for name in [f"{known}/"] if has_more and prefix.startswith(path) and is_part(known) else _names(folder):
        key = path + name
        with suppress(FileNotFoundError, NotADirectoryError):  # deleted while we walk
            if not name.endswith("/"):
                if key.startswith(prefix) and key > after:
                    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
                    yield BlobInfo(key, found.st_size, modified_at(found))
            elif (key.startswith(prefix) or prefix.startswith(key)) and (key > after or after.startswith(key)):
                with opened(name.removesuffix("/"), folder) as below:
                    yield from walk(below, prefix, after, path=key)


def modified_at(found: os.stat_result) -> datetime:
    return datetime.fromtimestamp(found.st_mtime, UTC)


def _names(folder: int) -> list[str]:
    """Names in the order of their keys, which the slash of a folder is part of: `a-b/x` comes before `a/x`."""
    names = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if is_part(entry.name) and entry.is_dir(follow_symlinks=False):
                names.append(entry.name + "/")
            elif is_part(entry.name) and entry.is_file(follow_symlinks=False):
                names.append(entry.name)
    return sorted(names)
