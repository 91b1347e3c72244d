"""Names and ids of the tags, document types, custom fields and correspondents in Paperless, and a cached view of its trash.

Ids are looked up by name, created where they are missing, and cached for one pass (docs/contracts.md#paperless-names).
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

import structlog

from muniment.handover.internal.client import InternalApiClient
from muniment.handover.internal.contract import OrganizationIds
from muniment.handover.paperless.client import MAX_TITLE_CHARACTERS, PaperlessClient
from muniment.handover.paperless.errors import PaperlessKind
from muniment.handover.sidecar import Sidecar

DOCUMENT_TYPE_NAMES: Mapping[str, str] = {
    "invoice": "Invoice",
    "contract": "Contract",
    "care-plan": "Care plan",
    "incident-report": "Incident report",
    "onboarding": "Onboarding",
    "other": "Other",
}


_MAX_FIELD_CHARACTERS = 128


def correspondent_name(organization_id: UUID) -> str:
    return f"org-{organization_id}"


def organization_tag_name(organization_id: UUID) -> str:
    return f"org:{organization_id}"


def type_tag_name(document_type: str) -> str:
    return f"doc-type:{document_type}"


def document_type_name(document_type: str) -> str:
    """As people read it; a type that we do not know is called as its producer calls it."""
    return DOCUMENT_TYPE_NAMES.get(document_type) or document_type.replace("-", " ").capitalize()


def document_title(sidecar: Sidecar) -> str:
    """`Invoice — Firma AS 2026-05-08`: what is too long is cut in the organization's name, not in the date."""
    before, after = f"{document_type_name(sidecar.document_type)} — ", f" {sidecar.timestamp.date().isoformat()}"
    name = " ".join(sidecar.organization_name.split())
    return before + name[: MAX_TITLE_CHARACTERS - len(before) - len(after)] + after


@dataclass(frozen=True)
class NamePrefix:
    """What the names of our own tags and fields begin with: `bilko` unless the settings say otherwise."""

    text: str = "bilko"

    @property
    def source_tag(self) -> str:
        return f"{self.text}-source"

    def content_tag(self, sha256: str) -> str:
        return f"{self.text}-source-uuid:{sha256}"

    @property
    def field_names(self) -> tuple[str, str, str]:
        return (f"{self.text}_document_id", f"{self.text}_organization_id", f"{self.text}_sha256")

    def field_values(self, sidecar: Sidecar) -> dict[str, str]:
        """Of our custom fields."""
        values = (str(sidecar.bilko_document_id), str(sidecar.organization_id), sidecar.sha256)
        return {name: value[:_MAX_FIELD_CHARACTERS] for name, value in zip(self.field_names, values, strict=True)}


log = structlog.get_logger()


@dataclass(frozen=True)
class DocumentObjectIds:
    """Of everything that one document carries."""

    correspondent: int
    organization_tag: int
    content_tag: int
    type_tag: int
    source_tag: int
    document_type: int
    custom_fields: Mapping[int, str]
    """Our custom fields with their values."""

    @property
    def tags(self) -> frozenset[int]:
        return frozenset({self.organization_tag, self.content_tag, self.type_tag, self.source_tag})

    @property
    def identity_tags(self) -> frozenset[int]:
        """Those by which a document is known to be this one: its bytes, of this organization."""
        return frozenset({self.organization_tag, self.content_tag})


@dataclass
class PaperlessObjects:
    paperless: PaperlessClient
    api: InternalApiClient
    name_prefix: NamePrefix
    configured_tag_ids: Mapping[str, int]
    """PAPERLESS_TAG_IDS_MAP: by document type, and that of our source tag by its name."""
    _ids_by_name: dict[tuple[PaperlessKind, str], int] = field(default_factory=dict)
    _organizations: dict[UUID, OrganizationIds] = field(default_factory=dict)
    _lookup_lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def resolve(self, sidecar: Sidecar) -> DocumentObjectIds:
        """Everything is there afterwards. `ApiOrganizationNotFound` where Muniment does not have it."""
        async with self._lookup_lock:  # of many jobs that begin at once, one asks
            organization = await self._get_organization_ids(sidecar.organization_id)
            values = self.name_prefix.field_values(sidecar)
            shared = {
                "type_tag": await self._get_tag_id(type_tag_name(sidecar.document_type), sidecar.document_type),
                "source_tag": await self.get_source_tag(),
                "document_type": await self._get_id(
                    PaperlessKind.DOCUMENT_TYPE, document_type_name(sidecar.document_type)
                ),
            }
            fields = {await self._get_id(PaperlessKind.CUSTOM_FIELD, name): value for name, value in values.items()}
        content_tag = await self.paperless.get_or_create(
            PaperlessKind.TAG, self.name_prefix.content_tag(sidecar.sha256)
        )
        return DocumentObjectIds(
            organization.paperless_correspondent_id,
            organization.paperless_org_tag_id,
            content_tag=content_tag,
            custom_fields=fields,
            **shared,
        )

    async def get_source_tag(self) -> int:
        return await self._get_tag_id(self.name_prefix.source_tag, self.name_prefix.source_tag)

    async def find_identity_tags(self, organization_id: UUID, sha256: str) -> frozenset[int] | None:
        """Nothing is made: if one of them is missing, no document can carry both."""
        wanted = (organization_tag_name(organization_id), self.name_prefix.content_tag(sha256))
        found = [await self.paperless.find_id(PaperlessKind.TAG, name) for name in wanted]
        return frozenset(tag for tag in found if tag is not None) if None not in found else None

    async def ensure_shared_objects(self) -> Mapping[str, int]:
        """Everything that does not depend on an organization, found or made; its ids by name."""
        for document_type, name in DOCUMENT_TYPE_NAMES.items():
            await self._get_tag_id(type_tag_name(document_type), document_type)
            await self._get_id(PaperlessKind.DOCUMENT_TYPE, name)
        await self.get_source_tag()
        for name in self.name_prefix.field_names:
            await self._get_id(PaperlessKind.CUSTOM_FIELD, name)
        return {f"{kind}/{name}": key for (kind, name), key in self._ids_by_name.items()}

    def invalidate(self, kind: PaperlessKind) -> None:
        """Paperless does not know one of these ids (any more): all of them are looked up by their names again."""
        self._ids_by_name = {known: key for known, key in self._ids_by_name.items() if known[0] is not kind}
        if kind is PaperlessKind.TAG and self.configured_tag_ids:
            log.warning("archive.given_tags_unknown", setting="PAPERLESS_TAG_IDS_MAP")
            self.configured_tag_ids = {}
        if kind in (PaperlessKind.TAG, PaperlessKind.CORRESPONDENT):
            self._organizations.clear()

    async def _get_organization_ids(self, organization_id: UUID) -> OrganizationIds:
        """By their names, once in a pass: after Paperless was set up anew the same number is something else there."""
        if organization_id not in self._organizations:
            kept = await self.api.find_organization_ids(organization_id)
            found = OrganizationIds(
                paperless_correspondent_id=await self.paperless.get_or_create(
                    PaperlessKind.CORRESPONDENT, correspondent_name(organization_id)
                ),
                paperless_org_tag_id=await self.paperless.get_or_create(
                    PaperlessKind.TAG, organization_tag_name(organization_id)
                ),
            )
            if found != kept:
                await self.api.store_organization_ids(organization_id, found)
            self._organizations[organization_id] = found
        return self._organizations[organization_id]

    async def _get_tag_id(self, name: str, setting_key: str) -> int:
        if (given := self.configured_tag_ids.get(setting_key)) is not None:
            return given
        return await self._get_id(PaperlessKind.TAG, name)

    async def _get_id(self, kind: PaperlessKind, name: str) -> int:
        if (kind, name) not in self._ids_by_name:
            self._ids_by_name[kind, name] = await self.paperless.get_or_create(kind, name)
        return self._ids_by_name[kind, name]


@dataclass(frozen=True)
class TrashedDocument:
    document_id: int
    tags: frozenset[int]
    file_name: str | None


@dataclass
class TrashCache:
    paperless: PaperlessClient
    _documents: list[TrashedDocument] | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def find(self, source_tag: int, identity_tags: frozenset[int], file_name: str | None) -> int | None:
        """The lowest id of what carries these tags or was uploaded under this name."""
        async with self._lock:
            if self._documents is None:
                self._documents = [
                    TrashedDocument(document.id, document.tags, document.original_file_name)
                    async for document in self.paperless.iter_trash()
                    if source_tag in document.tags
                ]
        return min(
            (one.document_id for one in self._documents if _matches(one, identity_tags, file_name)), default=None
        )

    def invalidate(self) -> None:
        self._documents = None


def _matches(document: TrashedDocument, identity_tags: frozenset[int], file_name: str | None) -> bool:
    return identity_tags <= document.tags or (file_name is not None and document.file_name == file_name)
