"""Durable files below one folder: pending files, directory traversal without following links, error translation.

Everything here blocks; call it from a thread.
"""

import errno
import os
import stat
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path
from uuid import uuid4

from muniment.errors import StorageFull, Unavailable
from muniment.storage.objects.contract import is_key_part
from muniment.storage.objects.port import ObjectInfo, ObjectNotFound

_INCOMING = ".incoming"  # begins with a dot: no key can reach it
_MAX_ATTEMPTS = 100

Sync = Callable[[int], None]
"""Flushes what was written through a file descriptor to the disk."""


class PendingFile:
    """A file that is being written and has no key yet."""

    def __init__(self, path: Path, sync: Sync) -> None:
        self.path = path
        self._sync = sync
        self._file: FileIO | None = None
        self._is_consistent = True

    def write(self, data: bytes | bytearray) -> None:
        file = self._open()
        self._is_consistent = False
        rest = memoryview(data)
        while rest:
            rest = rest[file.write(rest) :]
        self._is_consistent = True

    def sync_and_close(self) -> None:
        """Flush the bytes to the disk and close the file. Nothing can be written afterwards."""
        file = self._open()
        self._sync(file.fileno())
        file.close()

    def discard(self) -> None:
        """Delete the temporary file. A published object is not affected."""
        if self._file is not None:
            self._file.close()
            self.path.unlink(missing_ok=True)

    def _open(self) -> FileIO:
        if not self._is_consistent:
            raise OSError(errno.EIO, "An earlier write has failed")
        # Created only now: before the first write the caller may not yet be committed to calling `discard`.
        if self._file is None:
            self._file = FileIO(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
        return self._file


@contextmanager
def open_directory(folder: Path | str, parent: int | None = None) -> Iterator[int]:
    """Yield a descriptor of `folder`, which is a path or, with `parent`, a name in that directory; then symbolic
    links are not followed."""
    flags = os.O_RDONLY | os.O_DIRECTORY | (os.O_NOFOLLOW if parent is not None else 0)
    descriptor = os.open(folder, flags, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def walk_objects(folder: int, prefix: str, after: str, *, path: str = "") -> Iterator[ObjectInfo]:
    """Yield the files below `folder` as objects, sorted by key; `path` is the key of `folder` itself."""
    known, has_more, _ = prefix.removeprefix(path).partition("/")
    # If the prefix contains the whole name of the next folder, its siblings need not be read.
    for name in [f"{known}/"] if has_more and prefix.startswith(path) and is_key_part(known) else _sorted_names(folder):
        key = path + name
        with suppress(FileNotFoundError, NotADirectoryError):  # deleted during the walk
            if not name.endswith("/"):
                if key.startswith(prefix) and key > after:
                    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
                    yield ObjectInfo(key, found.st_size, modified_at(found))
            elif (key.startswith(prefix) or prefix.startswith(key)) and (key > after or after.startswith(key)):
                with open_directory(name.removesuffix("/"), folder) as below:
                    yield from walk_objects(below, prefix, after, path=key)


def modified_at(found: os.stat_result) -> datetime:
    """Return the modification time in UTC."""
    return datetime.fromtimestamp(found.st_mtime, UTC)


def _sorted_names(folder: int) -> list[str]:
    """Return names in the order of their keys, in which folders end with a slash: `a-b/x` comes before `a/x`."""
    names = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if is_key_part(entry.name) and entry.is_dir(follow_symlinks=False):
                names.append(entry.name + "/")
            elif is_key_part(entry.name) and entry.is_file(follow_symlinks=False):
                names.append(entry.name)
    return sorted(names)


@contextmanager
def translate_read_errors() -> Iterator[None]:
    """Translate a missing file to `ObjectNotFound`, and any other read error to `Unavailable`."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            raise ObjectNotFound from None
        raise Unavailable("The document store cannot be read. Try again shortly") from error


@contextmanager
def translate_write_errors() -> Iterator[None]:
    """Translate a full disk to `StorageFull`, a key below another key to `ValueError`, and any other write error to
    `Unavailable`."""
    try:
        yield
    except (NotADirectoryError, IsADirectoryError) as error:
        raise ValueError("No key may lie below another key") from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StorageFull from error
        raise Unavailable("The document store cannot be written. Try again shortly") from error


def incoming_folder(root: Path) -> Path:
    """Return the folder of files that are being written."""
    return root / _INCOMING


class DurableTree:
    """Files below one folder, published and deleted durably.

    With `keep_empty_folders`, empty folders stay. A folder that has once been synced to the disk need not be synced
    again, which saves most of the cost of a small object.
    """

    def __init__(self, root: Path, sync: Sync, *, keep_empty_folders: bool = False, create: bool = True) -> None:
        self._root = root
        self._keep_empty_folders = keep_empty_folders
        self._synced: set[tuple[str, ...]] = set()
        self._incoming = incoming_folder(root)
        self._sync = sync
        if create:
            self._create()

    def _create(self) -> None:
        for folder in reversed([path for path in (self._incoming, *self._incoming.parents) if not path.exists()]):
            folder.mkdir(mode=0o700, exist_ok=True)
            with open_directory(folder.parent) as parent:
                self._sync(parent)

    def new_pending_file(self) -> PendingFile:
        """Return a new file under a random name in `.incoming`. It is created by its first write."""
        return PendingFile(self._incoming / uuid4().hex, self._sync)

    def replace(self, pending: PendingFile, parts: Sequence[str]) -> None:
        """Publish the file under its key, replacing an existing one."""

        def rename(name: str, folder: int) -> bool:
            os.rename(pending.path, name, dst_dir_fd=folder)
            return True

        self._publish(pending, parts, rename)

    def add_if_absent(self, pending: PendingFile, parts: Sequence[str]) -> bool:
        """Publish the file unless its key exists. Exactly one of several concurrent calls returns `True`."""

        def link(name: str, folder: int) -> bool:
            try:
                os.link(pending.path, name, dst_dir_fd=folder)
            except FileExistsError:
                return False
            return True

        return self._publish(pending, parts, link)

    def open(self, parts: Sequence[str]) -> FileIO:
        """Open the file for reading. Anything but a regular file counts as missing."""
        *parents, name = parts
        with self._folders(parents) as folders:
            descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=folders[-1])
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise FileNotFoundError(errno.ENOENT, "Not a file", name)
        return FileIO(descriptor, "rb")

    def remove(self, parts: Sequence[str]) -> None:
        """Delete the file durably, and the folders that became empty. A missing file is not an error."""
        *parents, name = parts
        with suppress(FileNotFoundError, NotADirectoryError), self._folders(parents) as folders:
            with suppress(FileNotFoundError, IsADirectoryError):
                os.unlink(name, dir_fd=folders[-1])
            # Even if it was missing: the process that deleted it may have crashed before this sync.
            self._sync(folders[-1])
            if not self._keep_empty_folders:
                _remove_empty_folders(parents, folders)

    def walk(self, prefix: str, after: str) -> Generator[ObjectInfo, None, None]:
        """Yield all objects whose key starts with `prefix`, sorted by key, starting after the key `after`."""
        with self._folders([]) as folders:
            yield from walk_objects(folders[0], prefix, after)

    def delete_stale(self, before: datetime) -> int:
        """Delete pending files that were last written before that time. Return their number."""
        removed = 0
        for path in self._incoming.iterdir():
            with suppress(FileNotFoundError):  # its writer has just finished
                if modified_at(path.lstat()) < before:
                    path.unlink()
                    removed += 1
        return removed

    def _publish(self, pending: PendingFile, parts: Sequence[str], move: Callable[[str, int], bool]) -> bool:
        pending.sync_and_close()
        *parents, name = parts
        for _ in range(_MAX_ATTEMPTS):
            # A concurrent delete can remove the empty folder between its creation and the move into it.
            with suppress(FileNotFoundError), self._folders(parents, make=True) as folders:
                is_moved = move(name, folders[-1])
                self._sync_folders(parents, folders)
                return is_moved
        raise FileNotFoundError(errno.ENOENT, "The pending file or its folder is missing", pending.path)

    def _sync_folders(self, parents: Sequence[str], folders: Sequence[int]) -> None:
        path = tuple(parents)
        # All of them: a folder that existed may be so new that its creator has not synced it yet.
        for folder in reversed(folders[-1:] if path in self._synced else folders):
            self._sync(folder)
        if self._keep_empty_folders:
            self._synced.add(path)

    @contextmanager
    def _folders(self, parts: Sequence[str], *, make: bool = False) -> Iterator[Sequence[int]]:
        """Yield descriptors of the root and of each folder of the path."""
        with ExitStack() as stack:
            try:
                folders = [stack.enter_context(open_directory(self._root))]
            except FileNotFoundError as error:
                # Not the same as a missing object: the disk may just not be mounted.
                raise Unavailable("The folder of the document store is missing") from error
            for part in parts:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(part, 0o700, dir_fd=folders[-1])
                        self._synced.clear()  # a synced folder may have been removed and created again
                folders.append(stack.enter_context(open_directory(part, folders[-1])))
            yield folders


def _remove_empty_folders(parents: Sequence[str], folders: Sequence[int]) -> None:
    for name, folder in zip(reversed(parents), reversed(folders[:-1]), strict=True):
        try:
            os.rmdir(name, dir_fd=folder)
        except OSError:  # not empty, or already removed
            return
