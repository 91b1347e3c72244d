"""What the errors of a file system mean for a store in a folder."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from muniment.errors import StorageFull, Unavailable
from muniment.storage.blobs.port import BlobNotFound


@contextmanager
def reading() -> Iterator[None]:
    """What is not there is `BlobNotFound`; a folder that cannot be read is `Unavailable`."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            raise BlobNotFound from None
        raise Unavailable("The document store cannot be read; try again shortly") from error


@contextmanager
def storing() -> Iterator[None]:
    """No room is `StorageFull`, a key below another a `ValueError`; a folder that cannot be written `Unavailable`."""
    try:
        yield
    except (NotADirectoryError, IsADirectoryError) as error:
        raise ValueError("No key may lie below another key") from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StorageFull from error
        raise Unavailable("The document store cannot be written; try again shortly") from error
