"""Reader of web pages: the visible blocks. Nothing is fetched and no script is run.

Nesting is limited because the parser's time grows with the square of the depth. The tree is walked without recursion.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

from selectolax.lexbor import LexborHTMLParser, LexborNode

from muniment.processing.readers.blocks import Block, collapse_whitespace, make_row, paginate
from muniment.processing.readers.contract import OpenedDocument, ParagraphKind, ReaderResources, ReadingOptions
from muniment.processing.readers.encodings import detect_encoding, encoding_from_bom, resolve_encoding
from muniment.processing.readers.errors import parser_errors_as_unreadable
from muniment.processing.readers.limits import LimitCounter

_MAX_DEPTH = 512


_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9-]*)")


# They end implicitly, and ordinary pages leave thousands of them unclosed.
_NOT_NESTING_NAMES = """
    area base br col dd dt embed hr img input li link meta option p param source tbody td tfoot th thead tr track
    wbr
"""


_NOT_NESTING = frozenset(_NOT_NESTING_NAMES.split())


def limit_nesting(source: str) -> str:
    """Return the page without the tags below the limit."""
    parts = list(_parts_within_limit(source))
    return source if len(parts) == 1 else " ".join(parts)


def _parts_within_limit(source: str) -> Iterator[str]:
    depth = start = 0
    for tag in _TAG.finditer(source):
        if tag[2].lower() in _NOT_NESTING:
            continue
        is_end = bool(tag[1])
        if depth + (not is_end) > _MAX_DEPTH and tag.start() >= start:
            yield source[start : tag.start()]
            end = source.find(">", tag.end())
            start = end + 1 if end >= 0 else len(source)
        depth = max(depth + (-1 if is_end else 1), 0)
    yield source[start:]


_HIDDEN_ELEMENTS = frozenset(
    {
        "head",
        "script",
        "style",
        "template",
        "noscript",
        "iframe",
        "object",
        "svg",
        "canvas",
        "audio",
        "video",
        "datalist",
    }
)


_INLINE_NAMES = """
    a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark math mi mn mo mrow ms msub
    msup mtext nobr output q ruby rb s samp small span strike strong sub sup time tt u var wbr
"""


_INLINE = frozenset(_INLINE_NAMES.split())


_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})


_KINDS = {
    **dict.fromkeys(_HEADINGS, ParagraphKind.HEADING),
    "li": ParagraphKind.LIST_ITEM,
    "caption": ParagraphKind.CAPTION,
    "figcaption": ParagraphKind.CAPTION,
}


_NOT_IN_DATA_TABLES = _HEADINGS | {"table", "ul", "ol", "form", "hr"}


_HIDDEN_STYLE = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)


_COLLAPSIBLE = re.compile(r"[ \t\n\f\r]+")


_RUBY_TEXT = frozenset({"rt", "rp"})


class BlockExtractor:
    """Collects text until a block ends."""

    def __init__(self, resources: ReaderResources) -> None:
        self._counter = LimitCounter(resources)
        self._blocks: list[Block] = []
        self._words: list[str] = []
        self._kinds: list[ParagraphKind] = [ParagraphKind.TEXT]
        self._pre_depth = 0
        self._rows: list[list[str]] | None = None
        """Rows of the current data table; `None` outside of one."""

    def extract(self, root: LexborNode) -> list[Block]:
        layout_tables = _find_layout_tables(root)
        skipped: int | None = None
        for node, is_end in _walk_tree(root):
            if skipped is not None:
                if is_end and node.mem_id == skipped:
                    skipped = None
            elif not is_end and _is_hidden(node):
                skipped = node.mem_id
            elif is_end:
                self._leave(node)
            else:
                self._enter(node, layout_tables)
        self._end_block()
        return self._blocks

    def _enter(self, node: LexborNode, layout_tables: set[int]) -> None:
        tag = node.tag or ""
        if tag == "-text":
            self._add_text(node.text_content or "")
        elif tag == "br":
            self._words.append("\n")
        elif tag == "img":
            self._words.append(f" {(node.attributes.get('alt') or '').strip()} ")
        elif tag == "table" and self._rows is None and node.mem_id not in layout_tables:
            self._end_block()
            self._rows = []
        elif tag not in _INLINE:
            self._enter_block(tag)

    def _enter_block(self, tag: str) -> None:
        if self._rows is not None and tag not in _KINDS:
            self._enter_in_table(tag)
            return
        self._end_block()
        self._pre_depth += tag == "pre"
        if tag in _KINDS:
            self._kinds.append(_KINDS[tag])

    def _enter_in_table(self, tag: str) -> None:
        assert self._rows is not None
        if tag == "tr":
            self._rows.append([])
        elif tag in {"td", "th"}:
            self._words.clear()
        else:
            self._words.append(" ")

    def _leave(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag == "table" and self._rows is not None:
            self._end_table()
        elif tag in _INLINE or tag.startswith("-") or tag == "br":
            return
        elif self._rows is not None and tag not in _KINDS:
            self._leave_in_table(tag)
        else:
            self._end_block()
            self._pre_depth -= tag == "pre"
            if tag in _KINDS:
                self._kinds.pop()

    def _leave_in_table(self, tag: str) -> None:
        assert self._rows is not None
        if tag in {"td", "th"} and self._rows:
            self._rows[-1].append(collapse_whitespace("".join(self._words)))
            self._words.clear()
        else:
            self._words.append(" ")

    def _end_table(self) -> None:
        lines = [make_row(cells) for cells in self._rows or ()]
        self._rows = None
        self._words.clear()
        self._add_block(Block("\n".join(line for line in lines if line), ParagraphKind.TABLE))

    def _add_text(self, text: str) -> None:
        self._words.append(text.replace("\f", " ") if self._pre_depth else _COLLAPSIBLE.sub(" ", text))

    def _end_block(self) -> None:
        text = "".join(self._words)
        self._words.clear()
        if self._pre_depth:
            parts = re.split(r"\n[ \t]*\n", text)
        else:
            parts = ["\n".join(_COLLAPSIBLE.sub(" ", line).strip() for line in text.split("\n"))]
        for part in parts:
            if part.strip():
                self._add_block(Block(part, self._kinds[-1]))

    def _add_block(self, block: Block) -> None:
        # Here and not only when pages are counted: the rest of a page that is too long must not be walked.
        self._counter.add(paragraphs=1, characters=len(block.text), figures=0)
        self._blocks.append(block)


def _walk_tree(root: LexborNode) -> Iterator[tuple[LexborNode, bool]]:
    """Yield each node when it is entered, and again with `True` when it is left."""
    node: LexborNode | None = root
    while node is not None:
        yield node, False
        below = node.first_child
        if below is not None:
            node = below
            continue
        yield node, True
        while node is not None and node.next is None:
            node = None if node.mem_id == root.mem_id else node.parent
            if node is not None:
                yield node, True
            if node is None or node.mem_id == root.mem_id:
                return
        node = node.next if node is not None else None


def _find_layout_tables(root: LexborNode) -> set[int]:
    """Return tables used for layout instead of data: those that contain tables, lists or headings."""
    if root.css_first("table") is None:
        return set()
    found: set[int] = set()
    around: list[int] = []
    for node, is_end in _walk_tree(root):
        tag = node.tag or ""
        if is_end:
            if tag == "table":
                around.pop()
            continue
        if tag in _NOT_IN_DATA_TABLES:
            for table in reversed(around):
                if table in found:
                    break
                found.add(table)
        if tag == "table":
            around.append(node.mem_id)
    return found


def _is_hidden(node: LexborNode) -> bool:
    tag = node.tag or ""
    if tag.startswith("-") or tag in _HIDDEN_ELEMENTS or tag in _RUBY_TEXT:
        return tag != "-text"
    attributes = node.attributes
    if not attributes:
        return False
    return "hidden" in attributes or _HIDDEN_STYLE.search(attributes.get("style") or "") is not None


_HEAD_BYTES = 4096


_DECLARED_ENCODING = re.compile(
    rb"<(?:meta[^>]{0,500}?charset|\?xml[^>]{0,200}?encoding)\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE
)


def open_file(file: BinaryIO, media_type: str, options: ReadingOptions, resources: ReaderResources) -> OpenedDocument:
    with parser_errors_as_unreadable("HTML"):
        encoding = _find_encoding(file)
        blocks = html_blocks(file.read().decode(encoding, errors="replace"), resources)
    return paginate("HTML", lambda: blocks, options, resources)


def html_blocks(source: str, resources: ReaderResources) -> list[Block]:
    """Yield the paragraphs of a page, its title first unless a heading repeats it."""
    tree = LexborHTMLParser(limit_nesting(source.replace("\0", "")))
    blocks = BlockExtractor(resources).extract(tree.root) if tree.root else []
    title_element = tree.head.css_first("title") if tree.head else None
    title = collapse_whitespace(title_element.text()) if title_element else ""
    if title and not _has_heading(blocks, title):
        blocks.insert(0, Block(title, ParagraphKind.HEADING))
    return blocks


def _has_heading(blocks: list[Block], title: str) -> bool:
    headings = (collapse_whitespace(block.text) for block in blocks if block.kind is ParagraphKind.HEADING)
    return any(heading == title or title.startswith(heading + " ") for heading in headings if heading)


def _find_encoding(file: BinaryIO) -> str:
    head = file.read(_HEAD_BYTES)
    file.seek(0)
    declared = _DECLARED_ENCODING.search(head)
    name = resolve_encoding(declared[1].decode("ascii", "replace")) if declared else None
    # A declaration that could be read as ASCII cannot mean UTF-16 or UTF-32.
    if name and name.startswith(("utf-16", "utf-32")):
        name = "utf-8"
    return encoding_from_bom(head) or name or detect_encoding(file)
