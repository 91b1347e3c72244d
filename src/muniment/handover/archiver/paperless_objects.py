"""Names and ids of the tags, document types, custom fields and correspondents in Paperless, and a cached view of its trash.

Ids are looked up by name, created where they are missing, and cached for one pass (specs/archive-queue.md §3.3, §5).
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

import structlog

from muniment.handover.internal.client import CachedIds, InternalApi
from muniment.handover.paperless.client import TITLE_CHARACTERS, Paperless
from muniment.handover.paperless.errors import Kind
from muniment.handover.sidecar import Sidecar

DOCUMENT_TYPES: Mapping[str, str] = {
    "invoice": "Invoice",
    "contract": "Contract",
    "care-plan": "Care plan",
    "incident-report": "Incident report",
    "onboarding": "Onboarding",
    "other": "Other",
}


_FIELD_CHARACTERS = 128


def correspondent_name(organization_id: UUID) -> str:
    return f"org-{organization_id}"


def organization_tag_name(organization_id: UUID) -> str:
    return f"org:{organization_id}"


def type_tag_name(document_type: str) -> str:
    return f"doc-type:{document_type}"


def document_type_name(document_type: str) -> str:
    """As people read it; a type that we do not know is called as its producer calls it."""
    return DOCUMENT_TYPES.get(document_type) or document_type.replace("-", " ").capitalize()


def document_title(sidecar: Sidecar) -> str:
    """`Invoice — Firma AS 2026-05-08`: what is too long is cut in the organization's name, not in the date."""
    before, after = f"{document_type_name(sidecar.document_type)} — ", f" {sidecar.timestamp.date().isoformat()}"
    name = " ".join(sidecar.organization_name.split())
    return before + name[: TITLE_CHARACTERS - len(before) - len(after)] + after


@dataclass(frozen=True)
class Label:
    """What the names of our own tags and fields begin with: `bilko` unless the settings say otherwise."""

    text: str = "bilko"

    @property
    def source_tag(self) -> str:
        return f"{self.text}-source"

    def content_tag(self, sha256: str) -> str:
        return f"{self.text}-source-uuid:{sha256}"

    @property
    def fields(self) -> tuple[str, str, str]:
        return (f"{self.text}_document_id", f"{self.text}_organization_id", f"{self.text}_sha256")

    def values(self, sidecar: Sidecar) -> dict[str, str]:
        """Of our custom fields."""
        values = (str(sidecar.bilko_document_id), str(sidecar.organization_id), sidecar.sha256)
        return {name: value[:_FIELD_CHARACTERS] for name, value in zip(self.fields, values, strict=True)}


log = structlog.get_logger()


@dataclass(frozen=True)
class Ids:
    """Of everything that one document carries."""

    correspondent: int
    organization_tag: int
    content_tag: int
    type_tag: int
    source_tag: int
    document_type: int
    fields: Mapping[int, str]
    """Our custom fields with their values."""

    @property
    def tags(self) -> frozenset[int]:
        return frozenset({self.organization_tag, self.content_tag, self.type_tag, self.source_tag})

    @property
    def telling_tags(self) -> frozenset[int]:
        """Those by which a document is known to be this one: its bytes, of this organization."""
        return frozenset({self.organization_tag, self.content_tag})


@dataclass
class Objects:
    paperless: Paperless
    api: InternalApi
    label: Label
    given_tags: Mapping[str, int]
    """PAPERLESS_TAG_IDS_MAP: by document type, and that of our source tag by its name."""
    _known: dict[tuple[Kind, str], int] = field(default_factory=dict)
    _organizations: dict[UUID, CachedIds] = field(default_factory=dict)
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def ids_of(self, sidecar: Sidecar) -> Ids:
        """Everything is there afterwards. `UnknownOrganization` where Muniment does not have it."""
        async with self._asking:  # of many jobs that begin at once, one asks
            organization = await self._organization(sidecar.organization_id)
            values = self.label.values(sidecar)
            shared = {
                "type_tag": await self._tag(type_tag_name(sidecar.document_type), sidecar.document_type),
                "source_tag": await self.source_tag(),
                "document_type": await self._find(Kind.DOCUMENT_TYPE, document_type_name(sidecar.document_type)),
            }
            fields = {await self._find(Kind.CUSTOM_FIELD, name): value for name, value in values.items()}
        content_tag = await self.paperless.find_or_make(Kind.TAG, self.label.content_tag(sidecar.sha256))
        return Ids(
            organization.correspondent, organization.organization_tag, content_tag=content_tag, fields=fields, **shared
        )

    async def source_tag(self) -> int:
        return await self._tag(self.label.source_tag, self.label.source_tag)

    async def find_telling_tags(self, organization_id: UUID, sha256: str) -> frozenset[int] | None:
        """Nothing is made: if one of them is missing, no document can carry both."""
        wanted = (organization_tag_name(organization_id), self.label.content_tag(sha256))
        found = [await self.paperless.find(Kind.TAG, name) for name in wanted]
        return frozenset(tag for tag in found if tag is not None) if None not in found else None

    async def set_up(self) -> Mapping[str, int]:
        """Everything that does not depend on an organization, found or made; its ids by name."""
        for document_type, name in DOCUMENT_TYPES.items():
            await self._tag(type_tag_name(document_type), document_type)
            await self._find(Kind.DOCUMENT_TYPE, name)
        await self.source_tag()
        for name in self.label.fields:
            await self._find(Kind.CUSTOM_FIELD, name)
        return {f"{kind}/{name}": key for (kind, name), key in self._known.items()}

    def forget(self, kind: Kind) -> None:
        """Paperless does not know one of these ids (any more): all of them are looked up by their names again."""
        self._known = {known: key for known, key in self._known.items() if known[0] is not kind}
        if kind is Kind.TAG and self.given_tags:
            log.warning("archive.given_tags_unknown", setting="PAPERLESS_TAG_IDS_MAP")
            self.given_tags = {}
        if kind in (Kind.TAG, Kind.CORRESPONDENT):
            self._organizations.clear()

    async def _organization(self, organization_id: UUID) -> CachedIds:
        """By their names, once in a pass: after Paperless was set up anew the same number is something else there."""
        if organization_id not in self._organizations:
            kept = await self.api.cached_ids(organization_id)
            found = CachedIds(
                await self.paperless.find_or_make(Kind.CORRESPONDENT, correspondent_name(organization_id)),
                await self.paperless.find_or_make(Kind.TAG, organization_tag_name(organization_id)),
            )
            if found != kept:
                await self.api.keep_ids(organization_id, found)
            self._organizations[organization_id] = found
        return self._organizations[organization_id]

    async def _tag(self, name: str, given_as: str) -> int:
        if (given := self.given_tags.get(given_as)) is not None:
            return given
        return await self._find(Kind.TAG, name)

    async def _find(self, kind: Kind, name: str) -> int:
        if (kind, name) not in self._known:
            self._known[kind, name] = await self.paperless.find_or_make(kind, name)
        return self._known[kind, name]


@dataclass(frozen=True)
class Trashed:
    document_id: int
    tags: frozenset[int]
    file_name: str | None


@dataclass
class TrashView:
    paperless: Paperless
    _found: list[Trashed] | None = None
    _looking: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def find(self, source_tag: int, telling_tags: frozenset[int], file_name: str | None) -> int | None:
        """The lowest id of what carries these tags or was uploaded under this name."""
        async with self._looking:
            if self._found is None:
                self._found = [
                    Trashed(document.id, document.tags, document.original_file_name)
                    async for document in self.paperless.trashed()
                    if source_tag in document.tags
                ]
        return min((one.document_id for one in self._found if _is(one, telling_tags, file_name)), default=None)

    def forget(self) -> None:
        self._found = None


def _is(one: Trashed, telling_tags: frozenset[int], file_name: str | None) -> bool:
    return telling_tags <= one.tags or (file_name is not None and one.file_name == file_name)
