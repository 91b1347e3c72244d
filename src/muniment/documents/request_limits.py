"""Limits of a request that uploads several files. Those of a single file are the limits of `Staging`."""

from dataclasses import dataclass

from muniment.errors import TooLarge


class RequestTooLarge(TooLarge):
    """The request is too large"""


@dataclass(frozen=True)
class RequestLimits:
    max_files: int
    max_bytes: int

    def allows(self, size_bytes: int) -> bool:
        return size_bytes <= self.max_bytes

    def require_bytes(self, size_bytes: int) -> None:
        """Raise if several files have more bytes together than a request may have."""
        if not self.allows(size_bytes):
            raise RequestTooLarge(
                f"The files of a request can have at most {self.max_bytes} bytes together. Send fewer at a time"
            )

    def require_files(self, count: int) -> None:
        if count > self.max_files:
            raise RequestTooLarge(f"A request can have at most {self.max_files} files. Send the others in another one")
