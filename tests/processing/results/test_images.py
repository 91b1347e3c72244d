"""Images of pages and figures: access is checked first, each is rendered once and cached."""

import asyncio
from uuid import UUID

import httpx
import pytest

from muniment.errors import Unavailable
from muniment.processing.readers.errors import Unreadable, UnreadableCode
from muniment.processing.results.images import MAX_WAITING_PER_USER
from tests.documents.test_download import damaged_originals
from tests.processing.results.results_fixture import DRAWING_KEY, ORIGINAL, PICTURE_KEY, FakeRenderer, ResultsFixture

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


async def until_asked(renderer: FakeRenderer, times: int) -> None:
    async with asyncio.timeout(15):
        while len(renderer.asked) < times:  # noqa: ASYNC110  # the server is in the same loop, behind a socket
            await asyncio.sleep(0.01)


async def test_a_page_picture_is_a_png_of_the_width_that_was_asked_for(
    results_env: ResultsFixture, renderer: FakeRenderer
) -> None:
    document_id = await results_env.document()
    answer = await results_env.get(document_id, "pages/2/image?width=300")
    assert answer.content == b"picture of ('application/pdf', 2, 300)"
    assert answer.headers["Content-Type"] == "image/png"
    assert answer.headers["Cache-Control"].startswith("private, max-age=")
    await results_env.get(document_id, "pages/2/image")
    assert [width for *_, width in renderer.asked] == [300, 1000]


@pytest.mark.parametrize("width", ["49", "3001", "wide"])
async def test_a_width_out_of_bounds_is_422(results_env: ResultsFixture, width: str) -> None:
    assert (await results_env.get(await results_env.document(), f"pages/1/image?width={width}")).status_code == 422


async def test_a_figure_is_found_by_its_box_or_its_source(results_env: ResultsFixture, renderer: FakeRenderer) -> None:
    document_id = await results_env.document(media_type=DOCX)
    for key in (PICTURE_KEY, DRAWING_KEY):
        assert (await results_env.get(document_id, f"diagrams/{key}/image")).status_code == 200
    assert renderer.asked == [(DOCX, 1, (72, 72, 272.13, 222), None), (DOCX, 2, None, "word/media/image1.png")]


async def test_a_picture_is_drawn_once_and_known_by_its_tag(
    results_env: ResultsFixture, renderer: FakeRenderer
) -> None:
    document_id = await results_env.document()
    first, second = [await results_env.get(document_id, "pages/1/image") for _ in range(2)]
    assert first.content == second.content
    tag = first.headers["ETag"]
    for known in (tag, f'"another", W/{tag}'):
        same = await results_env.get(document_id, "pages/1/image", **{"If-None-Match": known})
        assert (same.status_code, same.content, same.headers["ETag"]) == (304, b"", tag)
    assert (await results_env.get(document_id, "pages/1/image", **{"If-None-Match": '"another"'})).status_code == 200
    assert len(renderer.asked) == 1


async def test_one_person_waits_for_a_few_pictures_at_a_time(
    results_env: ResultsFixture, renderer: FakeRenderer
) -> None:
    document_id = await results_env.document()
    renderer.may_go_on.clear()
    widths = range(100, 100 + MAX_WAITING_PER_USER)
    waiting = [asyncio.create_task(results_env.get(document_id, f"pages/1/image?width={width}")) for width in widths]
    await until_asked(renderer, 2)
    async with asyncio.timeout(15):
        while results_env.api.services.images._waiting[results_env.owner.id] < MAX_WAITING_PER_USER:  # noqa: ASYNC110  # as above
            await asyncio.sleep(0.01)
    refused = await results_env.get(document_id, "pages/1/image?width=999")
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "1")
    renderer.may_go_on.set()
    assert {answer.status_code for answer in await asyncio.gather(*waiting)} == {200}


async def test_rendering_stops_when_no_request_waits_for_it(
    results_env: ResultsFixture, renderer: FakeRenderer
) -> None:
    document_id = await results_env.document()
    renderer.may_go_on.clear()
    asking = asyncio.create_task(results_env.get(document_id, "pages/1/image"))
    await until_asked(renderer, 1)
    asking.cancel()
    async with asyncio.timeout(15):
        while renderer.at_work:  # noqa: ASYNC110  # the server is in the same loop, behind a socket
            await asyncio.sleep(0.01)
    renderer.may_go_on.set()
    assert (await results_env.get(document_id, "pages/1/image")).status_code == 200


async def test_another_revision_has_another_picture_and_another_tag(
    results_env: ResultsFixture, renderer: FakeRenderer
) -> None:
    document_id = await results_env.document()
    first = await results_env.get(document_id, "pages/1/image")
    results_env.seed.execute("UPDATE documents SET revision = 2")
    second = await results_env.get(document_id, "pages/1/image", **{"If-None-Match": first.headers["ETag"]})
    assert (second.status_code, len(renderer.asked)) == (200, 2)


async def test_rights_are_asked_before_the_cache_and_before_the_tag(
    results_env: ResultsFixture, renderer: FakeRenderer
) -> None:
    document_id = await results_env.document()
    viewer = results_env.colleague("viewer")
    async with results_env.api.client(viewer) as client:
        path = results_env.path(document_id, "pages/1/image")
        tag = (await client.get(path)).headers["ETag"]
        results_env.seed.execute("DELETE FROM knowledge_base_members")
        assert (await client.get(path)).status_code == 404
        assert (await client.get(path, headers={"If-None-Match": tag})).status_code == 404
    results_env.seed.execute("DELETE FROM documents")
    assert (await results_env.get(document_id, "pages/1/image")).status_code == 404
    assert len(renderer.asked) == 1


async def test_concurrent_requests_share_one_rendering(results_env: ResultsFixture, renderer: FakeRenderer) -> None:
    document_id = await results_env.document()
    renderer.may_go_on.clear()
    asking = [asyncio.create_task(results_env.get(document_id, "pages/1/image")) for _ in range(5)]
    await until_asked(renderer, 1)
    renderer.may_go_on.set()
    answers = await asyncio.gather(*asking)
    assert {answer.status_code for answer in answers} == {200}
    assert len(renderer.asked) == 1


async def test_no_more_than_two_are_drawn_at_the_same_time(results_env: ResultsFixture, renderer: FakeRenderer) -> None:
    document_id = await results_env.document()
    renderer.may_go_on.clear()
    asking = [
        asyncio.create_task(results_env.get(document_id, f"pages/1/image?width={width}")) for width in range(100, 106)
    ]
    await until_asked(renderer, 2)
    renderer.may_go_on.set()
    assert {answer.status_code for answer in await asyncio.gather(*asking)} == {200}
    assert (len(renderer.asked), renderer.most_at_work) == (6, 2)


@pytest.mark.parametrize("media_type", [DOCX, "message/rfc822", "text/plain"])
async def test_kinds_without_page_pictures_are_415_and_the_original_is_not_even_fetched(
    results_env: ResultsFixture, renderer: FakeRenderer, media_type: str
) -> None:
    answer = await results_env.get(await results_env.document(media_type=media_type), "pages/1/image")
    assert (answer.status_code, answer.json()["detail"]) == (415, "Page images are not available for this file type")
    assert renderer.asked == []


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (Unreadable(UnreadableCode.UNSUPPORTED, "This figure cannot be shown."), 415),
        (Unreadable(UnreadableCode.CORRUPT, "The page is damaged."), 422),
        (Unreadable(UnreadableCode.READER_TIMEOUT, "It takes too long."), 422),
        (Unavailable("The reader does not run."), 503),
    ],
)
async def test_what_cannot_be_drawn_says_why_and_is_tried_again(
    results_env: ResultsFixture, renderer: FakeRenderer, error: Unreadable | Unavailable, status: int
) -> None:
    document_id, renderer.error = await results_env.document(), error
    answer = await results_env.get(document_id, "pages/1/image")
    detail = answer.json()["detail"]
    message = detail[0]["msg"] if status == 422 else detail
    assert (answer.status_code, message) == (status, error.message)
    renderer.error = None
    assert (await results_env.get(document_id, "pages/1/image")).status_code == 200


async def test_a_missing_original_is_a_loss_and_not_a_404(results_env: ResultsFixture) -> None:
    document_id = await results_env.document()
    await results_env.api.stores.objects.delete(results_env.original_key(document_id))
    answer = await results_env.get(document_id, "pages/1/image")
    assert (answer.status_code, answer.json()["detail"][:27]) == (500, "The stored file is missing.")


@pytest.mark.parametrize(
    "damaged", [ORIGINAL[:-1], ORIGINAL + b"x", ORIGINAL.upper()], ids=["short", "long", "changed"]
)
@pytest.mark.parametrize("place", ["pages/1/image", f"diagrams/{PICTURE_KEY}/image"], ids=["page", "figure"])
async def test_a_damaged_original_is_never_rendered(
    results_env: ResultsFixture, renderer: FakeRenderer, place: str, damaged: bytes
) -> None:
    document_id = await results_env.document()
    await results_env.api.stores.objects.put(results_env.original_key(document_id), damaged)
    counted = damaged_originals()
    answer = await results_env.get(document_id, place)
    assert (answer.status_code, answer.json()["detail"][:27]) == (500, "The stored file is damaged.")
    assert (renderer.asked, damaged_originals()) == ([], counted + 1)


@pytest.mark.parametrize("place", ["pages/4/image", "diagrams/p1-unknown/image"])
async def test_a_picture_of_nothing_is_404(results_env: ResultsFixture, place: str) -> None:
    document_id: UUID = await results_env.document()
    answer: httpx.Response = await results_env.get(document_id, place)
    assert answer.status_code == 404
