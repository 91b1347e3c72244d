"""Recognize captions of figures by wording and by position."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from muniment.processing.readers.blocks import Block, collapse_whitespace
from muniment.processing.readers.contract import Box, ParagraphKind

MAX_DISTANCE = 40.0
"""Maximum distance in points between a figure and its caption."""


MAX_CAPTION_CHARACTERS = 500


_CAPTION = re.compile(
    r"(?:figure|fig|abbildung|abb|bild|grafik|graphik|table|tabelle|tab|diagram|diagramm|chart|schaubild|photo|foto"
    r"|plate|tafel|illustration|scheme|schema)\.?\s*[A-Z]?\d",
    re.IGNORECASE,
)


def nearest_caption(box: Box, paragraphs: Sequence[tuple[str, Box]]) -> str | None:
    """Return the nearest caption below or above the box; at equal distance, the one below."""
    candidates = [
        (distance, text)
        for text, text_box in paragraphs
        if is_caption(text) and (distance := _distance(box, text_box)) is not None
    ]
    return min(candidates, key=lambda each: each[0])[1][:MAX_CAPTION_CHARACTERS] if candidates else None


def is_caption(text: str) -> bool:
    """Whether the text begins like a caption: a word such as "Figure", and a number."""
    return _CAPTION.match(text.lstrip()) is not None


def _distance(figure: Box, text: Box) -> tuple[float, int] | None:
    """Return the distance and whether the text is above; `None` if it is beside the figure or too far away."""
    if text[2] <= figure[0] or text[0] >= figure[2]:
        return None
    middle = (text[1] + text[3]) / 2
    is_above = middle < (figure[1] + figure[3]) / 2
    gap = figure[1] - text[3] if is_above else text[1] - figure[3]
    # It may overlap a little, because shadows and white borders belong to the figure.
    return (max(0.0, gap), int(is_above)) if -MAX_DISTANCE / 2 <= gap <= MAX_DISTANCE else None


_CAPTION_KINDS = (ParagraphKind.TEXT, ParagraphKind.CAPTION)


def assign_captions(blocks: Iterable[Block]) -> list[Block]:
    """Assign captions to figures, and mark the paragraphs that are captions."""
    visible = [block for block in blocks if block.text or block.figures]
    for at, block in enumerate(visible):
        if block.figures and (caption_at := _find_caption(visible, at)) is not None:
            caption = collapse_whitespace(visible[caption_at].text)
            visible[caption_at] = replace(visible[caption_at], kind=ParagraphKind.CAPTION)
            figures = tuple(replace(figure, caption=caption) for figure in block.figures)
            visible[at] = replace(visible[at], figures=figures)
    return visible


def _find_caption(blocks: list[Block], at: int) -> int | None:
    """Return the figure's own paragraph, the next one, or the previous one unless that belongs to another figure."""
    candidates = [at, *([at + 1] if at + 1 < len(blocks) else []), *([at - 1] if at else [])]
    return next((each for each in candidates if _is_caption(blocks[each], has_figure=each == at)), None)


def _is_caption(block: Block, *, has_figure: bool) -> bool:
    if (
        block.kind not in _CAPTION_KINDS
        or len(block.text) > MAX_CAPTION_CHARACTERS
        or (block.figures and not has_figure)
    ):
        return False
    return block.kind is ParagraphKind.CAPTION or is_caption(block.text)
