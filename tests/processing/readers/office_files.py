"""Office files built in memory, and a reader that checks the contract."""

import io
import zipfile
from collections.abc import Mapping

from PIL import Image

from muniment.documents.media_types.types import MediaType
from muniment.processing.readers.contract import PARAGRAPH_BREAK, ExtractedPage, ReaderResources, ReadingOptions
from muniment.processing.readers.registry import reader_for

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
STRICT_W = "http://purl.oclc.org/ooxml/wordprocessingml/main"


def read(
    data: bytes, kind: MediaType, options: ReadingOptions | None = None, resources: ReaderResources | None = None
) -> list[ExtractedPage]:
    """Return all pages, after checking the contract for each of them."""
    reader = reader_for(kind.media_type)
    reading = reader.open_file(
        io.BytesIO(data), kind.media_type, options or ReadingOptions(), resources or ReaderResources()
    )
    pages = list(reading.pages)
    assert [page.number for page in pages] == list(range(1, reading.total_pages + 1))
    for page in pages:
        texts = [page.text[paragraph.start : paragraph.end] for paragraph in page.paragraphs]
        assert PARAGRAPH_BREAK.join(texts) == page.text
        assert all(text and PARAGRAPH_BREAK not in text for text in texts)
    return pages


def paragraphs(page: ExtractedPage) -> list[tuple[str, str]]:
    return [(each.kind.value, page.text[each.start : each.end]) for each in page.paragraphs]


def a_zip(parts: Mapping[str, str | bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


def a_docx(body: str, *, namespace: str = W, before: str = "", **parts: str) -> bytes:
    """A Word document with this body. Further parts by their relation, for example `footnotes`."""
    spaces = f'xmlns:w="{namespace}" xmlns:r="{R}" xmlns:v="v" xmlns:mc="mc"'
    root = f"<w:document {spaces}><w:body>{body}</w:body></w:document>"
    relations = "".join(f'<Relationship Id="{name}" Type="{R}/{name}" Target="{name}.xml"/>' for name in parts)
    others = {f"word/{name}.xml": f'<w:{name} xmlns:w="{namespace}">{text}</w:{name}>' for name, text in parts.items()}
    return a_zip({
        "word/document.xml": before + root,
        "word/_rels/document.xml.rels": f"<Relationships>{relations}</Relationships>",
        **others,
    })  # fmt: skip


def w(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def an_odt(body: str, *, styles: str = "", parts: Mapping[str, str | bytes] | None = None) -> bytes:
    names = "office text style fo table draw xlink svg".split()  # noqa: SIM905
    spaces = " ".join(f'xmlns:{name}="urn:{name}"' for name in names)
    content = (
        f"<office:document-content {spaces}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
    return a_zip({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content, **(parts or {})})


def a_png(width: int = 200, height: int = 100) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (width, height), "red").save(file, "PNG")
    return file.getvalue()
