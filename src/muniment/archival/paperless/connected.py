"""What each subject of the client stands on."""

from muniment.archival.paperless.connection import Connection


class Connected:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection
