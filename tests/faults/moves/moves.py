"""Every move of the lifecycle: its requests, and the only states in which its documents may ever be seen."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import httpx

from muniment.processing.readers.errors import Unreadable, UnreadableCode
from tests.faults.moves.installation import InProcessInstallation, LateWorker
from tests.processing.worker_fixture import last_attempt

UNREADABLE = Unreadable(UnreadableCode.ENCRYPTED, "The file is protected by a password.")
KB = "the knowledge base"
OLD, NEW, OTHER, BAD = b"%PDF-1.7 old", b"%PDF-1.7 new", b"%PDF-1.7 of another", b"%PDF-1.7 bad"


@dataclass(frozen=True)
class DocumentState:
    """A document as the stores hold it, and its audit events since the move began."""

    status: str | None
    content: bytes | None
    said: tuple[str, ...] = ()


NOT_THERE = DocumentState(None, None)
Step = Mapping[str, DocumentState]
"""Documents that change in one transaction, by name."""


@dataclass(frozen=True)
class Prepared:
    documents: Mapping[str, UUID]
    ways: Sequence[Sequence[Step]]
    """The steps of each independent part of the move, from first to last."""
    request: Callable[[httpx.AsyncClient], Awaitable[httpx.Response]]
    late: Sequence[LateWorker] = ()
    """Runs claimed by workers before the move."""


def gone(*said: str) -> DocumentState:
    return DocumentState(None, None, said)


def documents_of(kb_id: UUID) -> str:
    return f"/api/v1/knowledge-bases/{kb_id}/documents"


@dataclass
class MovePreparation:
    """Prepares the documents of a move through HTTP and a real run processor."""

    installation: InProcessInstallation

    @property
    def path(self) -> str:
        return documents_of(self.installation.kb_id)

    async def upload(self, name: str, content: bytes, kb_id: UUID | None = None) -> UUID:
        async with self.installation.client() as client:
            path = documents_of(kb_id or self.installation.kb_id)
            answer = await client.post(path, files={"file": (name, content)})
        assert answer.status_code == 201, answer.text
        return UUID(answer.json()["id"])

    async def completed(self, name: str, content: bytes, kb_id: UUID | None = None) -> UUID:
        document_id = await self.upload(name, content, kb_id)
        await self.installation.reconcile_env.process(document_id)
        return document_id

    async def failed(self, name: str, content: bytes) -> UUID:
        document_id = await self.upload(name, content)
        await self.fail(document_id)
        return document_id

    async def fail(self, document_id: UUID, error: Exception = UNREADABLE) -> None:
        reader = self.installation.reconcile_env.worker_env.reader
        reader.error = error
        if isinstance(error, Unreadable):
            await self.installation.reconcile_env.process(document_id)
        else:
            await last_attempt(lambda: self.installation.reconcile_env.process(document_id))
        reader.error = None

    async def reverted(self, name: str, content: bytes, failed: bytes) -> UUID:
        """Add a document whose replacement could not be read."""
        document_id = await self.completed(name, content)
        await self.post(document_id, "replace", files={"file": ("new.pdf", failed)})
        await self.fail(document_id)
        return document_id

    async def archived(self, name: str, content: bytes) -> UUID:
        document_id = await self.completed(name, content)
        await self.post(document_id, "archive")
        return document_id

    async def begun(self, name: str, content: bytes) -> tuple[UUID, LateWorker]:
        document_id = await self.upload(name, content)
        return document_id, await self.installation.claim(document_id)

    async def post(self, document_id: UUID, move: str, **body: object) -> None:
        async with self.installation.client() as client:
            answer = await client.post(f"{self.path}/{document_id}/{move}", **body)  # type: ignore[arg-type]
        assert answer.status_code == 200, answer.text

    async def rereading(self, document_id: UUID) -> LateWorker:
        await self.post(document_id, "retry", json={"force": True})
        return await self.installation.claim(document_id)


async def archive(at: MovePreparation) -> Prepared:
    document_id = await at.completed("old.pdf", OLD)
    late = await at.rereading(document_id)
    return Prepared(
        {"old": document_id},
        [[{"old": DocumentState("completed", OLD)}, {"old": DocumentState("archived", OLD, ("document_archived",))}]],
        lambda client: client.post(f"{at.path}/{document_id}/archive"),
        [late],
    )


async def restore(at: MovePreparation) -> Prepared:
    document_id = await at.archived("old.pdf", OLD)
    return Prepared(
        {"old": document_id},
        [[{"old": DocumentState("archived", OLD)}, {"old": DocumentState("completed", OLD, ("document_restored",))}]],
        lambda client: client.post(f"{at.path}/{document_id}/restore"),
    )


async def purge(at: MovePreparation) -> Prepared:
    document_id = await at.archived("old.pdf", OLD)
    return Prepared(
        {"old": document_id},
        [[{"old": DocumentState("archived", OLD)}, {"old": gone("document_purged")}]],
        lambda client: client.delete(f"{at.path}/{document_id}/purge"),
    )


async def bulk_purge(at: MovePreparation) -> Prepared:
    """Two documents with the same content, and one whose content another document also has."""
    documents = {
        "first": await at.archived("first.pdf", OLD),
        "second": await at.archived("second.pdf", OLD),
        "third": await at.archived("third.pdf", OTHER),
    }
    contents = {"first": OLD, "second": OLD, "third": OTHER}
    ids = {"document_ids": [str(document_id) for document_id in documents.values()]}
    return Prepared(
        documents,
        [
            [{name: DocumentState("archived", content)}, {name: gone("document_purged")}]
            for name, content in contents.items()
        ],
        lambda client: client.post(f"{at.path}/bulk-purge", json=ids),
    )


async def clear(at: MovePreparation) -> Prepared:
    document_id, late = await at.begun("old.pdf", OLD)
    await at.post(document_id, "cancel")
    return Prepared(
        {"old": document_id},
        [[{"old": DocumentState("failed", OLD)}, {"old": gone("document_cleared")}]],
        lambda client: client.delete(f"{at.path}/{document_id}/clear"),
        [late],
    )


async def cancel(at: MovePreparation) -> Prepared:
    document_id, late = await at.begun("old.pdf", OLD)
    return Prepared(
        {"old": document_id},
        [[{"old": DocumentState("processing", OLD)}, {"old": DocumentState("failed", OLD, ("document_cancelled",))}]],
        lambda client: client.post(f"{at.path}/{document_id}/cancel"),
        [late],
    )


async def retry(at: MovePreparation) -> Prepared:
    document_id, late = await at.begun("old.pdf", OLD)
    await at.post(document_id, "cancel")
    return Prepared(
        {"old": document_id},
        [[{"old": DocumentState("failed", OLD)}, {"old": DocumentState("pending", OLD, ("document_retried",))}]],
        lambda client: client.post(f"{at.path}/{document_id}/retry"),
        [late],
    )


async def upload(at: MovePreparation) -> Prepared:
    """Upload under the name of a failed upload."""
    failed = await at.failed("new.pdf", BAD)
    first = {"failed": DocumentState("failed", BAD), "new": NOT_THERE}
    last = {"failed": gone("document_auto_cleared"), "new": DocumentState("pending", NEW, ("document_uploaded",))}
    return Prepared(
        {"failed": failed}, [[first, last]], lambda client: client.post(at.path, files={"file": ("new.pdf", NEW)})
    )


async def replace(at: MovePreparation) -> Prepared:
    """Replace with a file that has the name of a failed upload."""
    failed, document_id = await at.failed("new.pdf", BAD), await at.completed("old.pdf", OLD)
    late = await at.rereading(document_id)
    first = {"failed": DocumentState("failed", BAD), "old": DocumentState("completed", OLD)}
    last = {"failed": gone("document_auto_cleared"), "old": DocumentState("pending", NEW, ("document_replaced",))}
    return Prepared(
        {"failed": failed, "old": document_id},
        [[first, last]],
        lambda client: client.post(f"{at.path}/{document_id}/replace", files={"file": ("new.pdf", NEW)}),
        [late],
    )


async def revert(at: MovePreparation) -> Prepared:
    document_id = await at.completed("old.pdf", OLD)
    await at.post(document_id, "replace", files={"file": ("new.pdf", NEW)})
    await at.fail(document_id, RuntimeError("a fault of the test"))  # an unreadable file would be reverted at once
    return Prepared(
        {"old": document_id},
        [[{"old": DocumentState("failed", NEW)}, {"old": DocumentState("completed", OLD, ("document_reverted",))}]],
        lambda client: client.post(f"{at.path}/{document_id}/replace/revert"),
    )


async def retry_replacement(at: MovePreparation) -> Prepared:
    document_id = await at.reverted("old.pdf", OLD, NEW)
    last = DocumentState("pending", NEW, ("document_replaced",))
    return Prepared(
        {"old": document_id},
        [[{"old": DocumentState("completed", OLD)}, {"old": last}]],
        lambda client: client.post(f"{at.path}/{document_id}/replace/retry"),
    )


async def discard_replacement(at: MovePreparation) -> Prepared:
    document_id = await at.reverted("old.pdf", OLD, NEW)
    last = DocumentState("completed", OLD, ("failed_replacement_deleted",))
    return Prepared(
        {"old": document_id},
        [[{"old": DocumentState("completed", OLD)}, {"old": last}]],
        lambda client: client.delete(f"{at.path}/{document_id}/replace/failed"),
    )


async def remove_kb(at: MovePreparation) -> Prepared:
    documents = {"completed": await at.completed("completed.pdf", OTHER)}
    documents["begun"], late = await at.begun("begun.pdf", NEW)
    begun, deleted = "knowledge_base_removal_begun", "knowledge_base_deleted"
    ways: list[list[Step]] = [
        [
            {KB: DocumentState("there", None)},
            {KB: DocumentState("leaving", None, (begun,))},
            {KB: DocumentState(None, None, (begun, deleted))},
        ],
        [
            {"completed": DocumentState("completed", OTHER)},
            {"completed": DocumentState("archived", OTHER, ("document_archived",))},
            {"completed": gone("document_archived", "document_purged")},
        ],
        [
            {"begun": DocumentState("processing", NEW)},
            {"begun": DocumentState("failed", NEW, ("document_cancelled",))},
            {"begun": gone("document_cancelled", "document_cleared")},
        ],
    ]
    path = f"/api/v1/knowledge-bases/{at.installation.kb_id}"
    return Prepared(documents, ways, lambda client: client.delete(path, params={"purge": True}), [late])


MOVES: dict[str, Callable[[MovePreparation], Awaitable[Prepared]]] = {
    "upload": upload,
    "archive": archive,
    "restore": restore,
    "purge": purge,
    "bulk purge": bulk_purge,
    "clear": clear,
    "cancel": cancel,
    "retry": retry,
    "replace": replace,
    "revert": revert,
    "retry of a replacement": retry_replacement,
    "deletion of a failed replacement": discard_replacement,
    "removal of a knowledge base": remove_kb,
}
MAY_STOP_HALFWAY = {"removal of a knowledge base"}
"""Moves that may need several requests, and say so."""
PROVES = {"purge", "clear", "removal of a knowledge base"}
"""Moves whose 200 proves that every store was checked to be empty."""


async def prepare(installation: InProcessInstallation, move: str) -> Prepared:
    """Prepare the move, and an unrelated document in another knowledge base."""
    at = MovePreparation(installation)
    elsewhere = installation.seed.knowledge_base(installation.owner, "Elsewhere")
    bystander = await at.completed("bystander.pdf", OTHER, elsewhere)
    prepared = await MOVES[move](at)
    await installation.sweep()
    untouched = [{"bystander": DocumentState("completed", OTHER)}]
    installation.keeping.save()
    documents = {**prepared.documents, "bystander": bystander}
    return Prepared(documents, [*prepared.ways, untouched], prepared.request, prepared.late)
