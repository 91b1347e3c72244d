"""Split pages into chunks that fit into a model. Pure: the same page always gives the same chunks."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from muniment.search.sentences import TextSpan, sentence_spans

_LINE = re.compile(r"\S(?:[^\n]*\S)?")


_WORD = re.compile(r"\S+")


def line_spans(text: str, start: int, end: int) -> Iterator[TextSpan]:
    """Return the non-empty lines, such as the rows of a table."""
    return (match.span() for match in _LINE.finditer(text, start, end))


def word_spans(text: str, start: int, end: int) -> Iterator[TextSpan]:
    return (match.span() for match in _WORD.finditer(text, start, end))


def bisect_span(start: int, end: int, is_small: Callable[[int, int], bool]) -> Iterator[TextSpan]:
    """Yield the span if it is small enough, or else halve it until the parts are."""
    if end - start <= 1 or is_small(start, end):
        yield start, end
        return
    middle = (start + end) // 2
    yield from bisect_span(start, middle, is_small)
    yield from bisect_span(middle, end, is_small)


CountTokens = Callable[[str], int]


HEADING, TABLE, TEXT = "heading", "table", "text"
"""Paragraph kinds of the readers that are treated differently from each other. All others are treated as text."""


_CHARACTERS_PER_TOKEN = 8
"""More than in any language. It limits the length of unknown words, each of which the model counts as one token."""


@dataclass(frozen=True, slots=True)
class ParagraphSpan:
    """A paragraph: the characters of the page's text from `start` up to, not including, `end`."""

    start: int
    end: int
    kind: str = TEXT


@dataclass(frozen=True, slots=True)
class SourcePage:
    number: int
    text: str
    paragraphs: Sequence[ParagraphSpan]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a page: `text` is the page's text from `start` up to, not including, `end`."""

    page_number: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class ChunkOptions:
    """All options that affect where pages are split. They are hashed into the fingerprint of the indexing variant."""

    target_tokens: int = 200
    max_tokens: int = 254
    """Without the special tokens that the model adds."""
    overlap_sentences: int = 2

    @property
    def overlap_budget(self) -> int:
        """Number of tokens that may be repeated from the previous chunk."""
        return self.max_tokens - self.target_tokens


@dataclass(frozen=True, slots=True)
class _Piece:
    """The smallest unit of a chunk: a heading, a sentence, a table row, or a part of a long sentence."""

    start: int
    end: int
    tokens: int
    is_heading: bool = False
    is_sentence: bool = False
    """Whether it is a complete sentence, which may be repeated in the next chunk."""
    is_last: bool = False
    """Whether it ends its paragraph."""


@dataclass
class _ChunkDraft:
    """The chunk that is being built. Its first `carried` pieces are repeated from the previous chunk."""

    pieces: list[_Piece] = field(default_factory=list)
    carried: int = 0

    @property
    def tokens(self) -> int:
        return sum(piece.tokens for piece in self.pieces)

    @property
    def has_new(self) -> bool:
        return len(self.pieces) > self.carried

    @property
    def is_heading(self) -> bool:
        return all(piece.is_heading for piece in self.pieces)


def make_chunks(page: SourcePage, count_tokens: CountTokens, options: ChunkOptions) -> list[Chunk]:
    """Return the chunks of a page in reading order.

    None has more than `max_tokens`, and every word of every paragraph is in at least one.
    """
    draft, chunks = _ChunkDraft(), []
    for piece in _pieces(page, count_tokens, options):
        if draft.has_new and not _fits(draft, piece, options):
            following = _carry_over(draft, piece, options)
            chunks.append(_chunk(page, draft.pieces[: len(draft.pieces) - following.headings]))
            draft = following.draft
        draft.pieces.append(piece)
    if draft.has_new:
        chunks.append(_chunk(page, draft.pieces))
    return chunks


def _fits(draft: _ChunkDraft, piece: _Piece, options: ChunkOptions) -> bool:
    tokens = draft.tokens + piece.tokens
    if piece.is_heading and not draft.pieces[-1].is_heading and 2 * draft.tokens >= options.target_tokens:
        return False  # a new section begins, and the draft is long enough for a passage
    # The text after headings and the end of a paragraph may exceed the target, which avoids chunks of a few words.
    may_exceed = not piece.is_heading and (piece.is_last or draft.is_heading)
    return tokens <= (options.max_tokens if may_exceed else options.target_tokens)


@dataclass(frozen=True)
class _NextChunk:
    draft: _ChunkDraft
    headings: int
    """Number of pieces that move from the previous chunk instead of being repeated."""


def _carry_over(draft: _ChunkDraft, piece: _Piece, options: ChunkOptions) -> _NextChunk:
    """Return the start of the next chunk: the headings above `piece`, or else the last sentences again."""
    # Not all pieces, or the previous chunk would be empty.
    candidates = draft.pieces[max(draft.carried, 1) :]
    headings = (
        [] if piece.is_heading else _last_pieces(candidates, options.overlap_budget, len(candidates), _is_heading)
    )
    if headings:
        return _NextChunk(_ChunkDraft(headings, carried=0), len(headings))
    repeats = (
        []
        if piece.is_heading
        else _last_pieces(candidates, options.overlap_budget, options.overlap_sentences, _is_sentence)
    )
    return _NextChunk(_ChunkDraft(repeats, carried=len(repeats)), 0)


def _is_heading(piece: _Piece) -> bool:
    return piece.is_heading


def _is_sentence(piece: _Piece) -> bool:
    return piece.is_sentence


def _last_pieces(pieces: Sequence[_Piece], room: int, limit: int, matches: Callable[[_Piece], bool]) -> list[_Piece]:
    taken: list[_Piece] = []
    for piece in reversed(pieces):
        room -= piece.tokens
        if len(taken) == limit or room < 0 or not matches(piece):
            break
        taken.insert(0, piece)
    return taken


def _chunk(page: SourcePage, pieces: Sequence[_Piece]) -> Chunk:
    start, end = pieces[0].start, pieces[-1].end
    return Chunk(page.number, start, end, page.text[start:end])


def _pieces(page: SourcePage, count_tokens: CountTokens, options: ChunkOptions) -> Iterator[_Piece]:
    def count_span(start: int, end: int) -> int:
        return max(count_tokens(page.text[start:end]), -(-(end - start) // _CHARACTERS_PER_TOKEN))

    for paragraph in page.paragraphs or [ParagraphSpan(0, len(page.text))]:
        parts = list(_split_paragraph(page.text, paragraph, count_span, options))
        yield from parts[:-1]
        for part in parts[-1:]:
            yield replace(part, is_last=True)


CountSpan = Callable[[int, int], int]


def _split_paragraph(text: str, paragraph: ParagraphSpan, count: CountSpan, options: ChunkOptions) -> Iterator[_Piece]:
    if paragraph.kind == HEADING:
        tokens = count(paragraph.start, paragraph.end)
        if tokens <= options.overlap_budget:
            yield _Piece(paragraph.start, paragraph.end, tokens, is_heading=True)
            return
        # Too long for a heading: text that only looks like one.
    is_table = paragraph.kind == TABLE
    for start, end in (line_spans if is_table else sentence_spans)(text, paragraph.start, paragraph.end):
        tokens = count(start, end)
        if tokens <= options.target_tokens:
            yield _Piece(start, end, tokens, is_sentence=not is_table)
        else:
            yield from _split_sentence(text, start, end, count, options.target_tokens)


def _split_sentence(text: str, start: int, end: int, count: CountSpan, max_tokens: int) -> Iterator[_Piece]:
    """Split a long sentence between words, and halve words that are too long."""
    begin, last, tokens = start, start, 0
    for word_start, word_end in word_spans(text, start, end):
        for part_start, part_end in bisect_span(word_start, word_end, lambda a, b: count(a, b) <= max_tokens):
            weight = count(part_start, part_end)
            if tokens and tokens + weight > max_tokens:
                yield _Piece(begin, last, tokens)
                begin, tokens = part_start, 0
            last, tokens = part_end, tokens + weight
    yield _Piece(begin, last, tokens)
