"""Group lines into paragraphs and determine the kind of each."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median_low

from muniment.processing.readers.contract import Box, ParagraphKind
from muniment.processing.readers.pdf.text.lines import LIST_MARKER, TextRun, bounds
from muniment.processing.readers.pdf.text.reading_order import Column, LayoutBlock
from muniment.processing.readers.pdf.text.tables import Cell, DetectedTable
from muniment.processing.readers.pdf.text.words import Fonts

_CAPTION = re.compile(
    r"(?:Figure|Fig\.|Abbildung|Abb\.|Table|Tabelle|Tab\.|Chart|Diagramm?)\s*[0-9IVX]+(?:[.\-][0-9]+)*\b"
)
_SENTENCE_END = re.compile(r"[.!?:][\"'”’)\]]*$")
_HEADING_SIZE_RATIO = 1.12
_MAX_HEADING_LINES = 3
_NEARBY = 5
"""Number of lines above and below that determine the margins."""
_MAX_HEADING_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class ParagraphDraft:
    """A paragraph before its text is built: lines of cells of words. Only tables have several cells."""

    kind: ParagraphKind
    lines: tuple[tuple[Cell, ...], ...]
    box: Box


@dataclass(frozen=True, slots=True)
class _Line:
    run: TextRun
    size: float
    is_bold: bool

    @property
    def has_marker(self) -> bool:
        return len(self.run.words) > 1 and LIST_MARKER.match(self.run.words[0].text) is not None


@dataclass(frozen=True, slots=True)
class _BodyText:
    """Typical properties of the page's text."""

    size: float
    is_bold: bool
    pitch: float


def build_paragraphs(blocks: Sequence[LayoutBlock], fonts: Fonts) -> list[ParagraphDraft]:
    """Build paragraphs in the order of the blocks."""
    set_blocks = [
        [_measure_line(line, fonts) for line in block.lines] if isinstance(block, Column) else block for block in blocks
    ]
    body = _measure_body([line for block in set_blocks if isinstance(block, list) for line in block])
    drafts: list[ParagraphDraft] = []
    for block in set_blocks:
        if isinstance(block, DetectedTable):
            drafts.append(ParagraphDraft(ParagraphKind.TABLE, block.rows, block.box))
        else:
            drafts += [_make_draft(lines, body) for lines in _paragraphs(block, body)]
    return drafts


def _measure_line(run: TextRun, fonts: Fonts) -> _Line:
    # The largest of several sizes: a name in a smaller monospaced font does not make a line small.
    words = run.words
    first, middle, last = (fonts.at(words[index].char_index) for index in (0, len(words) // 2, -1))
    return _Line(run, max(first.size, middle.size, last.size), first.is_bold and last.is_bold)


def _measure_body(lines: Sequence[_Line]) -> _BodyText:
    sizes: Counter[tuple[float, bool]] = Counter()
    for line in lines:
        sizes[line.size, line.is_bold] += sum(len(word.text) for word in line.run.words)
    if not sizes:
        return _BodyText(0.0, is_bold=False, pitch=1.2)
    size, is_bold = max(sizes, key=lambda key: (sizes[key], -key[0], key[1]))
    pitches = [_pitch(a, b) for a, b in pairwise(lines) if a.size == b.size and 0 < _pitch(a, b) < 2.2]
    return _BodyText(size, is_bold, median_low(pitches) if pitches else 1.2)


def _pitch(above: _Line, below: _Line) -> float:
    """Return the distance between lines in units of the text height."""
    return (below.run.bottom - above.run.bottom) / (below.run.height or 1.0)


def _paragraphs(lines: Sequence[_Line], body: _BodyText) -> Iterator[list[_Line]]:
    if not lines:
        return
    paragraph = [lines[0]]
    for index in range(1, len(lines)):
        nearby = [line.run for line in lines[max(0, index - _NEARBY) : index + _NEARBY]]
        left, right = min([run.left for run in nearby]), max([run.right for run in nearby])
        following = lines[index + 1] if index + 1 < len(lines) else None
        if _begins_paragraph(paragraph, lines[index], following, body, (left, right)):
            yield paragraph
            paragraph = []
        paragraph.append(lines[index])
    yield paragraph


def _begins_paragraph(
    paragraph: list[_Line], line: _Line, following: _Line | None, body: _BodyText, edges: tuple[float, float]
) -> bool:
    above = paragraph[-1]
    if (
        abs(line.size - above.size) > 0.08 * max(line.size, above.size)
        or line.is_bold != above.is_bold
        or line.has_marker
    ):
        return True
    if _pitch(above, line) > 1.25 * body.pitch:
        return True
    if paragraph[0].has_marker:
        is_hanging = len(paragraph) > 1 and paragraph[1].run.left - paragraph[0].run.left > 0.4 * line.run.height
        return is_hanging and line.run.left - paragraph[0].run.left < 0.4 * line.run.height
    return _is_indented(above, line, following, edges[0]) or _has_ended(above, line, edges[1])


def _is_indented(above: _Line, line: _Line, following: _Line | None, left: float) -> bool:
    height = line.run.height
    indent = line.run.left - left
    returns = following is None or following.run.left - left < 0.4 * height or following.run.left == line.run.left
    return 0.7 * height < indent < 4 * height and above.run.left - left < 0.4 * height and returns


def _has_ended(above: _Line, line: _Line, right: float) -> bool:
    """Whether a sentence ended although the next word would have fitted on that line."""
    first = line.run.words[0]
    room = right - above.run.right
    return room > first.right - first.left + 2 * line.run.height and bool(
        _SENTENCE_END.search(above.run.words[-1].text)
    )


def _make_draft(lines: Sequence[_Line], body: _BodyText) -> ParagraphDraft:
    cells = tuple((line.run.words,) for line in lines)
    return ParagraphDraft(_kind(lines, body), cells, bounds(line.run for line in lines))


def _kind(lines: Sequence[_Line], body: _BodyText) -> ParagraphKind:
    first = lines[0]
    if _CAPTION.match(" ".join(word.text for word in first.run.words[:3])):
        return ParagraphKind.CAPTION
    length = sum(len(word.text) + 1 for line in lines for word in line.run.words)
    is_prominent = first.size >= _HEADING_SIZE_RATIO * body.size or (
        first.is_bold and not body.is_bold and first.size >= body.size
    )
    has_letters = any(character.isalpha() for word in first.run.words for character in word.text)
    if is_prominent and has_letters and len(lines) <= _MAX_HEADING_LINES and length <= _MAX_HEADING_CHARACTERS:
        return ParagraphKind.HEADING
    return ParagraphKind.LIST_ITEM if first.has_marker else ParagraphKind.TEXT
