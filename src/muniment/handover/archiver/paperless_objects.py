"""Names and ids of tags, document types, custom fields and correspondents in Paperless, and a cached view of its trash.

Ids are looked up by name, created where they are missing, and cached for one pass (docs/contracts.md#paperless-names).
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

import structlog

from muniment.handover.description import DocumentDescription, render_title
from muniment.handover.internal.client import InternalApiClient
from muniment.handover.internal.contract import OrganizationIds
from muniment.handover.paperless.client import MAX_TITLE_CHARACTERS, PaperlessClient
from muniment.handover.paperless.errors import PaperlessKind
from muniment.handover.sidecar import Sidecar

log = structlog.get_logger()

DOCUMENT_TYPE_NAMES: Mapping[str, str] = {
    "invoice": "Invoice",
    "contract": "Contract",
    "care-plan": "Care plan",
    "incident-report": "Incident report",
    "onboarding": "Onboarding",
    "other": "Other",
}


def correspondent_name(organization_id: UUID) -> str:
    return f"org-{organization_id}"


def organization_tag_name(organization_id: UUID) -> str:
    return f"org:{organization_id}"


def type_tag_name(document_type: str) -> str:
    return f"doc-type:{document_type}"


def document_type_name(document_type: str) -> str:
    """Return the name that people see. For an unknown type it is derived from the producer's."""
    return DOCUMENT_TYPE_NAMES.get(document_type) or document_type.replace("-", " ").capitalize()


@dataclass(frozen=True)
class NamePrefix:
    """Prefix of the names of our own tags and custom fields: `bilko`, unless the settings change it."""

    text: str = "bilko"

    @property
    def source_tag(self) -> str:
        return f"{self.text}-source"

    def content_tag(self, sha256: str) -> str:
        return f"{self.text}-source-uuid:{sha256}"


@dataclass(frozen=True)
class DocumentObjectIds:
    """Paperless ids of all tags, types and fields of one document."""

    correspondent: int
    organization_tag: int
    content_tag: int
    type_tag: int
    source_tag: int
    document_type: int
    custom_fields: Mapping[int, str]
    """Values of our custom fields, by id."""
    is_content_tag_new: bool = False
    """Whether the content tag was created a moment ago, so that no document has it."""

    @property
    def tags(self) -> frozenset[int]:
        return frozenset({self.organization_tag, self.content_tag, self.type_tag, self.source_tag})

    @property
    def identity_tags(self) -> frozenset[int]:
        """Tags that identify a document: its content and its organization."""
        return frozenset({self.organization_tag, self.content_tag})

    @property
    def proof_tags(self) -> frozenset[int]:
        """Tags without which a job is not complete."""
        return self.identity_tags | {self.type_tag}


@dataclass
class PaperlessObjects:
    """Ids of objects in Paperless, looked up or created by name, and cached for one pass."""

    paperless: PaperlessClient
    api: InternalApiClient
    name_prefix: NamePrefix
    configured_tag_ids: Mapping[str, int]
    """Ids of PAPERLESS_TAG_IDS_MAP, by document type; that of the source tag by its name."""
    description: DocumentDescription = field(default_factory=DocumentDescription)
    _ids_by_name: dict[tuple[PaperlessKind, str], int] = field(default_factory=dict)
    _organizations: dict[UUID, OrganizationIds] = field(default_factory=dict)
    _lookup_lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def resolve(self, sidecar: Sidecar) -> DocumentObjectIds:
        """Return the ids of everything that a document needs, creating what is missing.

        Raise `ApiOrganizationNotFound` if Muniment does not have the organization.
        """
        async with self._lookup_lock:  # of many concurrent jobs, only one looks them up
            organization = await self._get_organization_ids(sidecar.organization_id)
            values = self.description.field_values(self.name_prefix.text, sidecar)
            shared = {
                "type_tag": await self._get_tag_id(type_tag_name(sidecar.document_type), sidecar.document_type),
                "source_tag": await self.get_source_tag(),
                "document_type": await self._get_id(
                    PaperlessKind.DOCUMENT_TYPE, document_type_name(sidecar.document_type)
                ),
            }
            fields = {await self._get_id(PaperlessKind.CUSTOM_FIELD, name): value for name, value in values.items()}
        # Nearly always new. It is created rather than looked up, which saves two requests for every document.
        content_tag = await self.paperless.create_or_find(
            PaperlessKind.TAG, self.name_prefix.content_tag(sidecar.sha256)
        )
        return DocumentObjectIds(
            organization.paperless_correspondent_id,
            organization.paperless_org_tag_id,
            content_tag=content_tag.id,
            is_content_tag_new=content_tag.is_new,
            custom_fields=fields,
            **shared,
        )

    def document_title(self, sidecar: Sidecar) -> str:
        """Return the title of a document, as the template of the settings has it."""
        return render_title(
            self.description.title,
            sidecar,
            type_name=document_type_name(sidecar.document_type),
            max_characters=MAX_TITLE_CHARACTERS,
        )

    async def get_source_tag(self) -> int:
        return await self._get_tag_id(self.name_prefix.source_tag, self.name_prefix.source_tag)

    async def find_identity_tags(self, organization_id: UUID, sha256: str) -> frozenset[int] | None:
        """Return the identity tags without creating any. If one is missing, no document can have both."""
        names = (organization_tag_name(organization_id), self.name_prefix.content_tag(sha256))
        ids = [await self.paperless.find_id(PaperlessKind.TAG, name) for name in names]
        return frozenset(tag for tag in ids if tag is not None) if None not in ids else None

    async def ensure_shared_objects(self) -> Mapping[str, int]:
        """Create the objects that do not depend on an organization, and return their ids by name."""
        for document_type, name in DOCUMENT_TYPE_NAMES.items():
            await self._get_tag_id(type_tag_name(document_type), document_type)
            await self._get_id(PaperlessKind.DOCUMENT_TYPE, name)
        await self.get_source_tag()
        for name in self.description.all_field_names(self.name_prefix.text):
            await self._get_id(PaperlessKind.CUSTOM_FIELD, name)
        return {f"{kind}/{name}": key for (kind, name), key in self._ids_by_name.items()}

    def invalidate(self, kind: PaperlessKind) -> None:
        """Look up all ids of this kind again, because Paperless rejected one."""
        self._ids_by_name = {known: key for known, key in self._ids_by_name.items() if known[0] is not kind}
        if kind is PaperlessKind.TAG and self.configured_tag_ids:
            log.warning("handover.configured_tags_invalid", setting="PAPERLESS_TAG_IDS_MAP")
            self.configured_tag_ids = {}
        if kind in (PaperlessKind.TAG, PaperlessKind.CORRESPONDENT):
            self._organizations.clear()

    async def _get_organization_ids(self, organization_id: UUID) -> OrganizationIds:
        """Look up the ids by name once per pass: after a new installation of Paperless, the recorded ids are wrong."""
        if organization_id not in self._organizations:
            recorded = await self.api.find_organization_ids(organization_id)
            found = OrganizationIds(
                paperless_correspondent_id=await self.paperless.get_or_create(
                    PaperlessKind.CORRESPONDENT, correspondent_name(organization_id)
                ),
                paperless_org_tag_id=await self.paperless.get_or_create(
                    PaperlessKind.TAG, organization_tag_name(organization_id)
                ),
            )
            if found != recorded:
                await self.api.store_organization_ids(organization_id, found)
            self._organizations[organization_id] = found
        return self._organizations[organization_id]

    async def _get_tag_id(self, name: str, setting_key: str) -> int:
        if (tag_id := self.configured_tag_ids.get(setting_key)) is not None:
            return tag_id
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
    """Our documents in the trash of Paperless, read once and again after `invalidate`."""

    paperless: PaperlessClient
    _documents: list[TrashedDocument] | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def find(self, source_tag: int, identity_tags: frozenset[int], file_name: str | None) -> list[int]:
        """Return the ids of the documents that have these tags or were uploaded under this file name, in order."""
        async with self._lock:
            if self._documents is None:
                self._documents = [
                    TrashedDocument(document.id, document.tags, document.original_file_name)
                    async for document in self.paperless.iter_trash()
                    if source_tag in document.tags
                ]
            documents = self._documents
        return sorted(found.document_id for found in documents if _matches(found, identity_tags, file_name))

    def invalidate(self) -> None:
        self._documents = None


def _matches(document: TrashedDocument, identity_tags: frozenset[int], file_name: str | None) -> bool:
    return identity_tags <= document.tags or (file_name is not None and document.file_name == file_name)
