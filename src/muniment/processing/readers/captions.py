"""Which paragraph says what a figure shows, where there is no layout to tell: the one behind it or the one before."""

from collections.abc import Iterable
from dataclasses import replace

from muniment.processing.readers.contract import ParagraphKind
from muniment.processing.readers.figure_captions import MAX_CAPTION, reads_like_caption
from muniment.processing.readers.text_blocks import Block, in_one_line

_MAY_CAPTION = (ParagraphKind.TEXT, ParagraphKind.CAPTION)


def name_figures(blocks: Iterable[Block]) -> list[Block]:
    """Give figures their captions, and mark the paragraphs that are ones."""
    named = [block for block in blocks if block.text or block.figures]
    for at, block in enumerate(named):
        if block.figures and (caption_at := _find_caption(named, at)) is not None:
            caption = in_one_line(named[caption_at].text)
            named[caption_at] = replace(named[caption_at], kind=ParagraphKind.CAPTION)
            figures = tuple(replace(figure, caption=caption) for figure in block.figures)
            named[at] = replace(named[at], figures=figures)
    return named


def _find_caption(blocks: list[Block], at: int) -> int | None:
    """Its own paragraph, else the next one, else the one before unless that belongs to a figure itself."""
    candidates = [at, *([at + 1] if at + 1 < len(blocks) else []), *([at - 1] if at else [])]
    return next((each for each in candidates if _is_caption(blocks[each], has_figure=each == at)), None)


def _is_caption(block: Block, *, has_figure: bool) -> bool:
    if block.kind not in _MAY_CAPTION or len(block.text) > MAX_CAPTION or (block.figures and not has_figure):
        return False
    return block.kind is ParagraphKind.CAPTION or reads_like_caption(block.text)
