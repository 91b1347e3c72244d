"""Parse Markdown into kinds of paragraphs and their text without markup.

Every pattern is bounded, so that no text makes it slow.
"""

import html
import re
from collections.abc import Iterator

from muniment.processing.readers.blocks import PAGE_BREAK, Block, make_row
from muniment.processing.readers.contract import ParagraphKind

_MARKUP = re.compile(r"[*_`~\[<&\\\ue000]")


_CODE = re.compile(r"(`{1,4})(?!`)(.{1,2000}?)(?<!`)\1(?!`)", re.DOTALL)


_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


_TARGET = r"(?:\([^()]{0,2000}(?:\([^()]{0,500}\)[^()]{0,500})?\)|\[[^\[\]]{0,500}\])"


_REPLACEMENTS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"<!--.{0,5000}?-->", re.DOTALL), ""),
    (re.compile(r"<((?:https?|ftp|mailto):[^\s<>]{1,2000})>"), r"\1"),
    (re.compile(r"<([^\s<>@]{1,200}@[^\s<>@]{1,200})>"), r"\1"),
    (re.compile(r"<br\s?/?>", re.IGNORECASE), "\n"),
    (re.compile(r"</?[a-zA-Z][\w-]{0,30}(?:\s[^<>]{0,1000})?/?>"), ""),
    (re.compile(r"!\[([^\[\]]{0,1000})\]" + _TARGET), r"\1"),
    (re.compile(r"\[([^\[\]]{1,1000})\]" + _TARGET), r"\1"),
    (re.compile(r"(\*{1,3})(?=[^\s*])(.{1,1000}?)(?<=[^\s*])\1(?!\*)", re.DOTALL), r"\2"),
    (re.compile(r"(?<!\w)(_{1,3})(?=[^\s_])(.{1,1000}?)(?<=[^\s_])\1(?!\w)", re.DOTALL), r"\2"),
    (re.compile(r"~~(?=\S)(.{1,1000}?)(?<=\S)~~", re.DOTALL), r"\1"),
)  # fmt: skip


# Placeholders of code and escaped characters while marks are removed; texts do not contain these characters.
_PLACEHOLDER, _PLACEHOLDER_PATTERN = "\ue000{}\ue001", re.compile("\ue000(\\d+)\ue001")


def strip_markup(text: str) -> str:
    """Remove inline markup: a link becomes its text, an image its alternative text; code stays as it is."""
    if not _MARKUP.search(text):
        return text.strip()
    protected: list[str] = []

    def protect(content: str) -> str:
        protected.append(content)
        return _PLACEHOLDER.format(len(protected) - 1)

    text = _CODE.sub(lambda match: protect(match[2]), text)
    text = _ESCAPE.sub(lambda match: protect(match[1]), text)
    for pattern, replacement in _REPLACEMENTS:
        text = pattern.sub(replacement, text)
    return _PLACEHOLDER_PATTERN.sub(lambda match: _restore(protected, match), html.unescape(text)).strip()


def _restore(code_spans: list[str], match: re.Match[str]) -> str:
    at = int(match[1][:9])
    return code_spans[at] if at < len(code_spans) else ""


_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


_HEADING = re.compile(r" {0,3}#{1,6}(?:\s+(.*?))?(?:\s+#+)?\s*$")


_UNDERLINE = re.compile(r" {0,3}(?:=+|-{2,})\s*$")


_RULE = re.compile(r" {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$")


_ITEM = re.compile(r"\s*(?:[-*+]|(\d{1,9}[.)]))\s+(.*)$")


_QUOTE = re.compile(r" {0,3}(?:>\s?)+")


_DELIMITER = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")


_CELL_END = re.compile(r"(?<!\\)\|")


_MAX_LINES = 20_000


def markdown_blocks(lines: Iterator[str]) -> Iterator[Block]:
    """Yield headings, list items, tables and paragraphs. Code and front matter stay as they are."""
    parser = _Parser()
    for number, line in enumerate(lines):
        yield from parser.add_line(line.replace(PAGE_BREAK, " "), is_first=number == 0)
    yield from parser.finish_block()


class _Parser:
    """Parser that holds the lines of the unfinished paragraph."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._kind = ParagraphKind.TEXT
        self._closing_fence: re.Pattern[str] | None = None
        """Pattern that ends the current code block or front matter."""
        self._has_delimiter = False

    def add_line(self, line: str, *, is_first: bool) -> Iterator[Block]:
        if self._closing_fence:
            yield from self._add_verbatim(line)
        elif fence := _FENCE.match(line):
            yield from self.finish_block()
            self._closing_fence = re.compile(rf" {{0,3}}{re.escape(fence[1][0])}{{{len(fence[1])},}}\s*$")
        elif is_first and line.rstrip() == "---":
            self._closing_fence = re.compile(r"(?:---|\.\.\.)\s*$")
        else:
            yield from self._add_text(_QUOTE.sub("", line))

    def finish_block(self) -> Iterator[Block]:
        """Return the block of the lines so far. The second line of a table identifies it."""
        lines, kind = self._lines, self._kind
        has_delimiter, is_verbatim = self._has_delimiter, self._closing_fence is not None
        self._lines, self._kind, self._has_delimiter = [], ParagraphKind.TEXT, False
        if is_verbatim:
            yield Block("\n".join(lines))
        elif has_delimiter:
            yield Block("\n".join(map(_read_row, lines)), ParagraphKind.TABLE)
        elif lines:
            yield Block(_join(lines), kind)

    def _add_verbatim(self, line: str) -> Iterator[Block]:
        assert self._closing_fence is not None
        is_end = self._closing_fence.match(line) is not None
        # A blank line between two paragraphs, as in the code.
        if is_end or not line.strip() or len(self._lines) > _MAX_LINES:
            yield from self.finish_block()
        if is_end:
            self._closing_fence = None
        elif line.strip():
            self._lines.append(line)

    def _add_text(self, line: str) -> Iterator[Block]:
        if heading := _HEADING.match(line):
            yield from self.finish_block()
            yield Block(strip_markup(heading[1] or ""), ParagraphKind.HEADING)
        elif self._is_underlined_by(line):
            self._kind = ParagraphKind.HEADING
            yield from self.finish_block()
        elif not line.strip() or _RULE.match(line):
            yield from self.finish_block()
        elif item := _ITEM.match(line):
            yield from self.finish_block()
            self._kind = ParagraphKind.LIST_ITEM
            self._lines = [f"{item[1]} {item[2]}" if item[1] else item[2]]
        else:
            yield from self._continue(line)

    def _is_underlined_by(self, line: str) -> bool:
        is_open = bool(self._lines) and self._kind is ParagraphKind.TEXT and not self._has_delimiter
        return is_open and "|" not in self._lines[-1] and _UNDERLINE.match(line) is not None

    def _continue(self, line: str) -> Iterator[Block]:
        if (self._has_delimiter and "|" not in line) or len(self._lines) > _MAX_LINES:
            yield from self.finish_block()
        if self._begins_table(line):
            header = self._lines.pop()
            yield from self.finish_block()
            self._lines, self._has_delimiter = [header], True
        else:
            self._lines.append(line)

    def _begins_table(self, line: str) -> bool:
        is_open = bool(self._lines) and not self._has_delimiter
        return is_open and "|" in self._lines[-1] and "-" in line and _DELIMITER.match(line) is not None


def _read_row(line: str) -> str:
    cells = _CELL_END.split(line.strip().removeprefix("|").removesuffix("|"))
    return make_row([strip_markup(cell.replace("\\|", "|")) for cell in cells])


def _join(lines: list[str]) -> str:
    """Join lines into one, except at line breaks marked by two spaces or a backslash."""
    text = ""
    for line in lines:
        is_break = line.endswith(("  ", "\\"))
        text += line.removesuffix("\\").strip() + ("\n" if is_break else " ")
    return strip_markup(text.strip())
