from collections import OrderedDict
from collections.abc import Hashable


class PictureCache:
    """Holds at most `max_bytes`; what nobody has asked for longest goes first."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._held_bytes = 0
        self._pictures: OrderedDict[Hashable, bytes] = OrderedDict()

    def find(self, key: Hashable) -> bytes | None:
        found = self._pictures.get(key)
        if found is not None:
            self._pictures.move_to_end(key)
        return found

    def keep(self, key: Hashable, picture: bytes) -> None:
        """One that is larger than the whole cache is not kept."""
        if len(picture) > self._max_bytes:
            return
        self._held_bytes += len(picture) - len(self._pictures.pop(key, b""))
        self._pictures[key] = picture
        while self._held_bytes > self._max_bytes:
            _, gone = self._pictures.popitem(last=False)
            self._held_bytes -= len(gone)
