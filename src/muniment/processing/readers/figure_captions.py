"""Which of the paragraphs around a figure says what it shows."""

import re
from collections.abc import Sequence

from muniment.processing.readers.contract import Box

REACH = 40.0
"""Points between a figure and its caption."""
MAX_CAPTION = 500

_CAPTION = re.compile(
    r"(?:figure|fig|abbildung|abb|bild|grafik|graphik|table|tabelle|tab|diagram|diagramm|chart|schaubild|photo|foto"
    r"|plate|tafel|illustration|scheme|schema)\.?\s*[A-Z]?\d",
    re.IGNORECASE,
)


def caption_of(box: Box, paragraphs: Sequence[tuple[str, Box]]) -> str | None:
    """The nearest caption below or above the box; of two equally near ones, that below."""
    candidates = [
        (distance, text)
        for text, text_box in paragraphs
        if reads_like_caption(text) and (distance := _distance(box, text_box)) is not None
    ]
    return min(candidates, key=lambda each: each[0])[1][:MAX_CAPTION] if candidates else None


def reads_like_caption(text: str) -> bool:
    """Whether it begins as captions do: a word for what it shows, and a number."""
    return _CAPTION.match(text.lstrip()) is not None


def _distance(figure: Box, text: Box) -> tuple[float, int] | None:
    """How far apart, and whether above; `None` if the text stands beside, or farther away than a caption would."""
    if text[2] <= figure[0] or text[0] >= figure[2]:
        return None
    middle = (text[1] + text[3]) / 2
    is_above = middle < (figure[1] + figure[3]) / 2
    gap = figure[1] - text[3] if is_above else text[1] - figure[3]
    # It may overlap a little: shadows and white borders belong to the figure.
    return (max(0.0, gap), int(is_above)) if -REACH / 2 <= gap <= REACH else None
