import string

from hypothesis import given
from hypothesis import strategies as st

from muniment.processing.readers.contract import (
    Box,
    ExtractedPage,
    ExtractionMethod,
    Figure,
    FigureKind,
    Paragraph,
    ParagraphKind,
    Word,
)
from muniment.processing.sandbox.client import Sandbox
from muniment.processing.sandbox.protocol.decoding import decode_page
from muniment.processing.sandbox.protocol.frames import encode_page
from tests.processing.sandbox.conftest import a_file
from tests.processing.sandbox.jobs import PNG

hundredths = st.integers(-100_000, 1_000_000).map(lambda number: number / 100)
boxes = st.tuples(hundredths, hundredths, hundredths, hundredths)
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
sentences = st.none() | texts


@st.composite
def pages(draw: st.DrawFn) -> ExtractedPage:
    text = draw(texts)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=20)))
    spans = list(zip(cuts[0::2], cuts[1::2], strict=False))
    kinds = st.sampled_from(ParagraphKind)
    return ExtractedPage(
        number=draw(st.integers(1, 10_000)),
        text=text,
        method=draw(st.sampled_from(ExtractionMethod)),
        paragraphs=tuple(Paragraph(*span, draw(kinds), draw(st.none() | boxes)) for span in spans),
        words=tuple(Word(*span, draw(boxes)) for span in spans),
        figures=tuple(draw(st.lists(figures(), max_size=3))),
        width=draw(st.none() | st.floats(0, 1e6)),
        height=draw(st.none() | st.floats(0, 1e6)),
        rotation=draw(st.sampled_from([0, 90, 180, 270])),
        problem=draw(sentences),
        confidence=draw(st.none() | st.floats(0, 1)),
    )


def figures() -> st.SearchStrategy[Figure]:
    return st.builds(
        Figure,
        kind=st.sampled_from(FigureKind),
        sha256=st.text(string.hexdigits[:16], min_size=64, max_size=64),
        width_px=st.integers(0, 10_000),
        height_px=st.integers(0, 10_000),
        box=st.none() | boxes,
        caption=sentences,
        source=sentences,
    )


@given(pages())
def test_every_page_comes_out_as_it_went_in(page: ExtractedPage) -> None:
    assert decode_page(encode_page(page)) == page


def test_boxes_of_words_are_kept_to_a_hundredth_of_a_point() -> None:
    box: Box = (0.004, 1.006, 2.0, 3.333)
    page = decode_page(encode_page(ExtractedPage(1, "word", ExtractionMethod.TEXT, words=(Word(0, 4, box),))))
    assert page.words[0].box == (0.0, 1.01, 2.0, 3.33)


async def test_pictures_come_out_as_they_went_in(sandbox: Sandbox) -> None:
    with a_file() as file:
        page = await sandbox.render_page(file, "any", 7, 100)
        figure = await sandbox.render_figure(file, "any", 8, (1, 2, 3, 4), None)
    assert page.png == PNG + b"7"
    assert figure.png == PNG + b"8"
    assert (page.width_px, page.height_px) == (3, 2)
