"""Paperless-ngx ≥ 2.19 and 3.x, in the words of the domain."""

from typing import Self

from muniment.archival.paperless.connection import CloudflareAccess, Connection, Timeouts
from muniment.archival.paperless.documents import Documents
from muniment.archival.paperless.objects import Objects
from muniment.archival.paperless.tasks import Tasks
from muniment.archival.paperless.trash import Trash
from muniment.archival.paperless.uploads import Uploads
from muniment.archival.paperless.values import Version


class Paperless(Objects, Documents, Uploads, Tasks, Trash):
    """One server, as one of its users. Every call raises only what `errors.py` names, and none repeats itself."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        access: CloudflareAccess | None = None,
        timeouts: Timeouts | None = None,
        connections: int = 16,
    ) -> None:
        super().__init__(
            Connection(url, token, access=access, timeouts=timeouts or Timeouts(), connections=connections)
        )

    async def version(self) -> Version:
        """Which version answers; `LineStopped` for one before 2.19 and for what is no Paperless."""
        return await self._connection.version()

    async def close(self) -> None:
        await self._connection.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
