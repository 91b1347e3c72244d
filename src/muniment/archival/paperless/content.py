"""The bytes of a PDF, in memory or in an open file, for whatever size."""

import hashlib
import os
from typing import IO

Pdf = bytes | IO[bytes]


def size_of(pdf: Pdf) -> int:
    if isinstance(pdf, bytes):
        return len(pdf)
    return pdf.seek(0, os.SEEK_END)  # the upload begins at the beginning wherever it stands


def checksum(pdf: Pdf, algorithm: str) -> str:
    """In hex; an open file is read from its beginning."""
    if isinstance(pdf, bytes):
        return hashlib.new(algorithm, pdf, usedforsecurity=False).hexdigest()
    pdf.seek(0)
    return hashlib.file_digest(pdf, lambda: hashlib.new(algorithm, usedforsecurity=False)).hexdigest()  # type: ignore[arg-type]
