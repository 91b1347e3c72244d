"""Page images rendered by the real sandbox."""

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


@pytest.mark.slow
async def test_pages_and_figures_are_drawn_by_the_sandbox(settings: Settings) -> None:
    objects = FolderObjectStore(settings.server.data_dir / "drawn")
    await objects.put("good", a_pdf("Words on a page"))
    await objects.put("bad", b"%PDF-1.7 nothing of the kind")
    pictures = ImageService(objects, build_sandbox(settings))
    try:
        good = OriginalFile(new_id(), 1, "good", PDF)
        page = Image.open(io.BytesIO(await pictures.get(good, PageImageRequest(1, 400), new_id())))
        figure = Image.open(
            io.BytesIO(await pictures.get(good, FigureImageRequest("p1-a", 1, (72, 50, 200, 90), None), new_id()))
        )
        with pytest.raises(ImageNotRenderable):
            await pictures.get(OriginalFile(new_id(), 1, "bad", PDF), PageImageRequest(1, 400), new_id())
    finally:
        await pictures.close()
    assert (page.format, page.width) == ("PNG", 400)
    assert min(page.convert("L").tobytes()) < 128, "the words are there"
    assert figure.width > figure.height
