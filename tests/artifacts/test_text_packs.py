"""Text packs: one object, one frame per page, each page readable and verifiable alone (docs/design.md#text-packs)."""

import hashlib
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from muniment.artifacts.text_packs import (
    PAGE_SEPARATOR,
    ArtifactDamaged,
    StoredPageText,
    TextPackWriter,
    pack_key,
    paragraph_uri,
    read_page_text,
    stream_full_text,
    text_sha256,
)
from muniment.storage.db.base import new_id
from muniment.storage.objects.folder.store import FolderObjectStore
from muniment.storage.objects.port import ObjectNotFound

TEXTS = ["First page.\nTwo lines.", "", "Zweite Seite: Äöü ß, 漢字, 🙂", "x" * 300_000, "مرحبا بالعالم"]

CHECKSUM_BYTES = 4
LAST_BYTES = 5
"""Separator and checksum at the end of a frame."""


class ByteByByteStore(FolderObjectStore):
    """Returns one byte at a time, so that characters and frames are split anywhere."""

    async def read(self, key: str, *, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        async for piece in super().read(key, start=start, end=end):
            for at in range(len(piece)):
                yield piece[at : at + 1]


@pytest.fixture
def objects(tmp_path: Path) -> FolderObjectStore:
    return FolderObjectStore(tmp_path)


async def stored(objects: FolderObjectStore, texts: list[str]) -> tuple[TextPackWriter, list[StoredPageText]]:
    pack = TextPackWriter(new_id())
    pages = [pack.add_page(text) for text in texts]
    await objects.put(pack.key, pack.getvalue)
    return pack, pages


async def full_text(objects: FolderObjectStore, pack: TextPackWriter) -> str:
    return "".join([piece async for piece in stream_full_text(objects, pack.key, pack.sha256)])


async def test_every_page_comes_back_alone(objects: FolderObjectStore) -> None:
    _, pages = await stored(objects, TEXTS)
    for text, page in reversed(list(zip(TEXTS, pages, strict=True))):
        assert await read_page_text(objects, page.uri, page.sha256) == text


@pytest.mark.parametrize("store", [FolderObjectStore, ByteByByteStore])
async def test_the_full_text_is_all_pages_across_all_frames(tmp_path: Path, store: type[FolderObjectStore]) -> None:
    objects, texts = store(tmp_path), [text[:1000] for text in TEXTS]
    pack, _ = await stored(objects, texts)
    full = "".join(text + PAGE_SEPARATOR for text in texts)
    assert await full_text(objects, pack) == full
    assert pack.sha256 == hashlib.sha256(full.encode()).hexdigest()


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=50), max_size=5))
async def test_any_text_comes_back(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    objects = ByteByByteStore(tmp_path_factory.mktemp("any"))
    pack, pages = await stored(objects, texts)
    assert [await read_page_text(objects, page.uri, page.sha256) for page in pages] == texts
    assert await full_text(objects, pack) == "".join(text + PAGE_SEPARATOR for text in texts)


async def test_a_page_that_ends_with_the_separator_keeps_its_own(objects: FolderObjectStore) -> None:
    text = f"ends with one{PAGE_SEPARATOR}"
    _, [page] = await stored(objects, [text])
    assert await read_page_text(objects, page.uri, page.sha256) == text


async def test_the_ranges_of_the_pages_cover_the_object_without_gap(objects: FolderObjectStore) -> None:
    pack, pages = await stored(objects, TEXTS)
    spans = [tuple(map(int, page.uri.partition("#bytes=")[2].split("-"))) for page in pages]
    assert [pack_key(page.uri) for page in pages] == [pack.key] * len(TEXTS)
    assert spans[0][0] == 0
    assert [end for _, end in spans[:-1]] == [start for start, _ in spans[1:]]
    assert spans[-1][1] == await objects.size_bytes(pack.key)
    assert all(zstandard.frame_content_size(pack.getvalue[start:end]) > 0 for start, end in spans)


async def test_the_uri_of_a_paragraph_leads_to_its_page_and_names_its_characters(objects: FolderObjectStore) -> None:
    _, pages = await stored(objects, TEXTS)
    uri = paragraph_uri(pages[0].uri, 0, 11)
    assert uri == f"{pages[0].uri}&chars=0-11"
    assert (await read_page_text(objects, uri, pages[0].sha256))[0:11] == "First page."


@pytest.mark.parametrize(("organization_id", "folder"), [(UUID(int=1), str(UUID(int=1))), (None, "shared")])
def test_each_pack_has_a_fresh_name_in_the_folder_of_its_organization(
    organization_id: UUID | None, folder: str
) -> None:
    packs = [TextPackWriter(organization_id) for _ in range(3)]
    assert len({pack.key for pack in packs}) == 3
    assert {pack.key.rpartition("/")[0] for pack in packs} == {f"artifacts/{folder}"}


def test_equal_texts_make_equal_bytes() -> None:
    first, second = TextPackWriter(None), TextPackWriter(None)
    for pack in (first, second):
        pack.add_page("the same")
    assert (first.getvalue, first.sha256) == (second.getvalue, second.sha256)


async def test_a_bit_that_flips_anywhere_in_a_frame_is_noticed(objects: FolderObjectStore) -> None:
    pack, [page] = await stored(objects, ["A page of some words that a person wrote."])
    for place in range(len(pack.getvalue)):
        damaged = bytearray(pack.getvalue)
        damaged[place] ^= 1
        await objects.put(pack.key, bytes(damaged))
        with pytest.raises(ArtifactDamaged):
            await read_page_text(objects, page.uri, page.sha256)


async def test_an_object_that_was_cut_off_never_gives_another_text(objects: FolderObjectStore) -> None:
    pack, pages = await stored(objects, ["one page", "and another"])
    damaged = 0
    for length in range(len(pack.getvalue)):
        await objects.put(pack.key, pack.getvalue[:length])
        try:
            assert await read_page_text(objects, pages[1].uri, pages[1].sha256) == "and another"
        except ArtifactDamaged:
            damaged += 1
    assert damaged >= len(pack.getvalue) - LAST_BYTES  # without those bytes the text is complete and verified


async def test_another_page_under_the_uri_is_noticed(objects: FolderObjectStore) -> None:
    _, pages = await stored(objects, ["one page", "and another"])
    with pytest.raises(ArtifactDamaged):
        await read_page_text(objects, pages[0].uri, pages[1].sha256)


@pytest.mark.parametrize("uri", ["", "key", "key#bytes=1", "key#bytes=a-b", "key#bytes=0-1&chars=0", "key#bytes=-1-2"])
async def test_a_uri_that_names_no_page_is_damage(objects: FolderObjectStore, uri: str) -> None:
    with pytest.raises(ArtifactDamaged):
        await read_page_text(objects, uri, text_sha256(""))


async def test_damage_in_the_full_text_is_noticed(objects: FolderObjectStore) -> None:
    pack, _ = await stored(objects, ["one page", "and another"])
    await objects.put(pack.key, b"no frame at all")
    with pytest.raises(ArtifactDamaged):
        await full_text(objects, pack)
    await objects.put(pack.key, zstandard.compress("half a ß".encode()[:-1]))
    with pytest.raises(ArtifactDamaged):
        await full_text(objects, pack)


async def test_a_pack_that_is_gone_is_not_found(objects: FolderObjectStore) -> None:
    _, [page] = await stored(objects, ["one page"])
    await objects.delete(pack_key(page.uri))
    with pytest.raises(ObjectNotFound):
        await read_page_text(objects, page.uri, page.sha256)


async def test_a_full_text_that_was_cut_off_never_passes_for_whole(objects: FolderObjectStore) -> None:
    pack, _ = await stored(objects, ["one page", "and another"])
    for length in range(len(pack.getvalue) - CHECKSUM_BYTES):
        await objects.put(pack.key, pack.getvalue[:length])
        with pytest.raises(ArtifactDamaged):
            await full_text(objects, pack)
