"""Every call of the client, by the name of the server's route."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from muniment.handover.paperless.errors import PaperlessKind
from tests.handover.paperless.uploads import UploadTarget, a_name

Call = Callable[[UploadTarget, int], Awaitable[Any]]


async def _all(pieces: AsyncIterator[Any]) -> list[Any]:
    return [piece async for piece in pieces]


ABOUT_THE_LINE: dict[str, Call] = {
    "documents.list": lambda upload_target, _: upload_target.paperless.find_tagged(upload_target.tags),
    "tags.list": lambda upload_target, _: upload_target.paperless.find_id(PaperlessKind.TAG, a_name()),
    "correspondents.make": lambda upload_target, _: upload_target.paperless.get_or_create(
        PaperlessKind.CORRESPONDENT, a_name()
    ),
    "custom_fields.make": lambda upload_target, _: upload_target.paperless.get_or_create(
        PaperlessKind.CUSTOM_FIELD, a_name()
    ),
    "upload": lambda upload_target, _: upload_target.send(b"%PDF- of no importance"),
    "tasks.list": lambda upload_target, _: upload_target.paperless.find_task("00000000-0000-0000-0000-000000000000"),
    "trash.list": lambda upload_target, _: _all(upload_target.paperless.iter_trash()),
}
ABOUT_A_DOCUMENT: dict[str, Call] = {
    "documents.get": lambda upload_target, document: upload_target.paperless.find_document(document),
    "documents.metadata": lambda upload_target, document: upload_target.paperless.get_checksum(document),
    "documents.download": lambda upload_target, document: _all(upload_target.paperless.download_original(document)),
    "documents.bulk_edit": lambda upload_target, document: upload_target.paperless.add_tags(
        document, upload_target.tags
    ),
    "documents.patch": lambda upload_target, document: upload_target.paperless.fill_missing_metadata(
        document, correspondent=upload_target.correspondent
    ),
    "documents.delete": lambda upload_target, document: upload_target.paperless.move_to_trash(document),
    "trash.change": lambda upload_target, document: upload_target.paperless.restore(document),
}
CALLS = {**ABOUT_THE_LINE, **ABOUT_A_DOCUMENT}
