"""Page images rendered by the real sandbox."""

import hashlib
import io

import pytest
from PIL import Image

from muniment.bootstrap.processing import build_sandbox
from muniment.processing.results.images import (
    FigureImageRequest,
    ImageNotRenderable,
    ImageService,
    OriginalFile,
    PageImageRequest,
)
from muniment.settings import Settings
from muniment.storage.db.base import new_id
from muniment.storage.objects.folder.store import FolderObjectStore
from tests.documents.uploads import a_pdf

PDF = "application/pdf"
NO_PDF = b"%PDF-1.7 nothing of the kind"


async def stored(objects: FolderObjectStore, key: str, content: bytes) -> OriginalFile:
    await objects.put(key, content)
    return OriginalFile(new_id(), 1, key, PDF, len(content), hashlib.sha256(content).hexdigest())


@pytest.mark.slow
async def test_pages_and_figures_are_drawn_by_the_sandbox(settings: Settings) -> None:
    objects = FolderObjectStore(settings.server.data_dir / "drawn")
    good, bad = [await stored(objects, *each) for each in (("good", a_pdf("Words on a page")), ("bad", NO_PDF))]
    pictures = ImageService(objects, build_sandbox(settings))
    try:
        page = Image.open(io.BytesIO(await pictures.get(good, PageImageRequest(1, 400), new_id())))
        figure = Image.open(
            io.BytesIO(await pictures.get(good, FigureImageRequest("p1-a", 1, (72, 50, 200, 90), None), new_id()))
        )
        with pytest.raises(ImageNotRenderable):
            await pictures.get(bad, PageImageRequest(1, 400), new_id())
    finally:
        await pictures.close()
    assert (page.format, page.width) == ("PNG", 400)
    assert min(page.convert("L").tobytes()) < 128, "the words are there"
    assert figure.width > figure.height
