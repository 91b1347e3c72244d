"""Every call of the client, by the name of the server's route."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from muniment.handover.paperless.errors import PaperlessKind
from tests.handover.paperless.uploads import UploadTarget, a_name

Call = Callable[[UploadTarget, int], Awaitable[Any]]


async def _all(pieces: AsyncIterator[Any]) -> list[Any]:
    return [piece async for piece in pieces]


ABOUT_THE_LINE: dict[str, Call] = {
    "documents.list": lambda archive, _: archive.paperless.find_tagged(archive.tags),
    "tags.list": lambda archive, _: archive.paperless.find_id(PaperlessKind.TAG, a_name()),
    "correspondents.make": lambda archive, _: archive.paperless.get_or_create(PaperlessKind.CORRESPONDENT, a_name()),
    "custom_fields.make": lambda archive, _: archive.paperless.get_or_create(PaperlessKind.CUSTOM_FIELD, a_name()),
    "upload": lambda archive, _: archive.send(b"%PDF- of no importance"),
    "tasks.list": lambda archive, _: archive.paperless.find_task("00000000-0000-0000-0000-000000000000"),
    "trash.list": lambda archive, _: _all(archive.paperless.iter_trash()),
}
ABOUT_A_DOCUMENT: dict[str, Call] = {
    "documents.get": lambda archive, document: archive.paperless.find_document(document),
    "documents.metadata": lambda archive, document: archive.paperless.get_checksum(document),
    "documents.download": lambda archive, document: _all(archive.paperless.download_original(document)),
    "documents.bulk_edit": lambda archive, document: archive.paperless.add_tags(document, archive.tags),
    "documents.patch": lambda archive, document: archive.paperless.fill_missing_metadata(
        document, correspondent=archive.correspondent
    ),
    "documents.delete": lambda archive, document: archive.paperless.move_to_trash(document),
    "trash.change": lambda archive, document: archive.paperless.restore(document),
}
CALLS = {**ABOUT_THE_LINE, **ABOUT_A_DOCUMENT}
