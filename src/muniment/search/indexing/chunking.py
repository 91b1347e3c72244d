"""Split pages into chunks that a model can take in. Pure: the same page always gives the same chunks."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

TextSpan = tuple[int, int]


# Behind a mark that ends a sentence, its closing quotes and a blank; Chinese and Japanese write no blank there.
_SENTENCE_END = re.compile(r"[.!?…]+[\"'»«”“’)\]]*(?=\s)|[。！？]+[」』）]*")


_LAST_WORD = re.compile(r"(\w+)\.$")


_ABBREVIATIONS = re.compile(
    "abs|art|bzw|ca|cf|co|corp|dr|etc|fig|gmbh|inc|kap|ltd|mr|mrs|ms|no|nos|nr|pp|prof|rev|sec|st|str|tel|usw|vgl|vol|vs"
)


_LINE = re.compile(r"\S(?:[^\n]*\S)?")


_WORD = re.compile(r"\S+")


def sentence_spans(text: str, start: int, end: int) -> Iterator[TextSpan]:
    begin = start
    for match in _SENTENCE_END.finditer(text, start, end):
        if _continues(text, match, end):
            continue
        yield from _trim_span(text, begin, match.end())
        begin = match.end()
    yield from _trim_span(text, begin, end)


def _continues(text: str, mark: re.Match[str], end: int) -> bool:
    """An abbreviation or the like: the sentence does not end here."""
    following = text[mark.end() : min(mark.end() + 8, end)].lstrip()
    if following[:1].islower():
        return True
    before = _LAST_WORD.search(text, max(mark.start() - 12, 0), mark.end())
    if before is None:
        return False
    word = before[1]
    return (len(word) == 1 and word.isalpha()) or _ABBREVIATIONS.fullmatch(word.lower()) is not None


def line_spans(text: str, start: int, end: int) -> Iterator[TextSpan]:
    """Rows of a table."""
    return (match.span() for match in _LINE.finditer(text, start, end))


def word_spans(text: str, start: int, end: int) -> Iterator[TextSpan]:
    return (match.span() for match in _WORD.finditer(text, start, end))


def bisect_span(start: int, end: int, is_small: Callable[[int, int], bool]) -> Iterator[TextSpan]:
    """The span itself if it is small enough, or else its halves, and theirs."""
    if end - start <= 1 or is_small(start, end):
        yield start, end
        return
    middle = (start + end) // 2
    yield from bisect_span(start, middle, is_small)
    yield from bisect_span(middle, end, is_small)


def _trim_span(text: str, start: int, end: int) -> Iterator[TextSpan]:
    found = text[start:end]
    begin = start + len(found) - len(found.lstrip())
    if begin < end:
        yield begin, start + len(found.rstrip())


CountTokens = Callable[[str], int]


HEADING, TABLE, TEXT = "heading", "table", "text"
"""Kinds of paragraphs that are treated differently from all others; they are those of the readers."""


_CHARACTERS_PER_TOKEN = 8
"""More than any language needs. A word that the model does not know is one token, however long it is."""


@dataclass(frozen=True, slots=True)
class ParagraphSpan:
    """A paragraph: characters of the page's text, up to, not including, `end`."""

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
    """`text` is the page's text from `start` up to `end`."""

    page_number: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class ChunkOptions:
    """Everything that decides where a page is cut; it goes into the fingerprint of the indexing variant."""

    target_tokens: int = 200
    max_tokens: int = 254
    """Without the special tokens that the model adds itself."""
    overlap_sentences: int = 2

    @property
    def overlap_budget(self) -> int:
        """For what is carried over from the chunk before."""
        return self.max_tokens - self.target_tokens


@dataclass(frozen=True, slots=True)
class _Piece:
    start: int
    end: int
    tokens: int
    is_heading: bool = False
    is_sentence: bool = False
    """Whole, and so worth repeating."""
    is_last: bool = False
    """Of its paragraph."""


@dataclass
class _ChunkDraft:
    """The chunk that is being put together; the first `carried` pieces stood in the one before, or belong to it."""

    iter_chunks: list[_Piece] = field(default_factory=list)
    carried: int = 0

    @property
    def tokens(self) -> int:
        return sum(piece.tokens for piece in self.iter_chunks)

    @property
    def has_new(self) -> bool:
        return len(self.iter_chunks) > self.carried

    @property
    def is_heading(self) -> bool:
        return all(piece.is_heading for piece in self.iter_chunks)


def make_chunks(page: SourcePage, count_tokens: CountTokens, options: ChunkOptions) -> list[Chunk]:
    """In reading order; none has more than `max_tokens`. Every word of every paragraph is in at least one."""
    draft, chunks = _ChunkDraft(), []
    for piece in _pieces(page, count_tokens, options):
        if draft.has_new and not _fits(draft, piece, options):
            following = _carry_over(draft, piece, options)
            chunks.append(_chunk(page, draft.iter_chunks[: len(draft.iter_chunks) - following.headings]))
            draft = following.draft
        draft.iter_chunks.append(piece)
    if draft.has_new:
        chunks.append(_chunk(page, draft.iter_chunks))
    return chunks


def _fits(draft: _ChunkDraft, piece: _Piece, options: ChunkOptions) -> bool:
    tokens = draft.tokens + piece.tokens
    if piece.is_heading and not draft.iter_chunks[-1].is_heading and 2 * draft.tokens >= options.target_tokens:
        return False  # a new section begins, and what we have is enough for a passage of its own
    # Beyond the target: what stands below headings only, and a paragraph's end, rather than a tail of a few words.
    may_exceed = not piece.is_heading and (piece.is_last or draft.is_heading)
    return tokens <= (options.max_tokens if may_exceed else options.target_tokens)


@dataclass(frozen=True)
class _NextChunk:
    draft: _ChunkDraft
    headings: int
    """How many pieces leave the chunk before, instead of being repeated."""


def _carry_over(draft: _ChunkDraft, piece: _Piece, options: ChunkOptions) -> _NextChunk:
    """What the next chunk begins with: the headings above `piece`, or else the last sentences once more."""
    # Not all of it, or the chunk before would be empty.
    candidates = draft.iter_chunks[max(draft.carried, 1) :]
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


def _last_pieces(pieces: Sequence[_Piece], room: int, most: int, wanted: Callable[[_Piece], bool]) -> list[_Piece]:
    taken: list[_Piece] = []
    for piece in reversed(pieces):
        room -= piece.tokens
        if len(taken) == most or room < 0 or not wanted(piece):
            break
        taken.insert(0, piece)
    return taken


def _chunk(page: SourcePage, pieces: Sequence[_Piece]) -> Chunk:
    start, end = pieces[0].start, pieces[-1].end
    return Chunk(page.number, start, end, page.text[start:end])


def _pieces(page: SourcePage, count_tokens: CountTokens, options: ChunkOptions) -> Iterator[_Piece]:
    def weigh(start: int, end: int) -> int:
        return max(count_tokens(page.text[start:end]), -(-(end - start) // _CHARACTERS_PER_TOKEN))

    for paragraph in page.paragraphs or [ParagraphSpan(0, len(page.text))]:
        parts = list(_split_paragraph(page.text, paragraph, weigh, options))
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
        # Too long to be one: it is text that only looks like it.
    is_table = paragraph.kind == TABLE
    for start, end in (line_spans if is_table else sentence_spans)(text, paragraph.start, paragraph.end):
        tokens = count(start, end)
        if tokens <= options.target_tokens:
            yield _Piece(start, end, tokens, is_sentence=not is_table)
        else:
            yield from _split_sentence(text, start, end, count, options.target_tokens)


def _split_sentence(text: str, start: int, end: int, count: CountSpan, max_tokens: int) -> Iterator[_Piece]:
    """A sentence that is too long, at words; a word that is too long, in halves."""
    begin, last, tokens = start, start, 0
    for word_start, word_end in word_spans(text, start, end):
        for part_start, part_end in bisect_span(word_start, word_end, lambda a, b: count(a, b) <= max_tokens):
            weight = count(part_start, part_end)
            if tokens and tokens + weight > max_tokens:
                yield _Piece(begin, last, tokens)
                begin, tokens = part_start, 0
            last, tokens = part_end, tokens + weight
    yield _Piece(begin, last, tokens)
