"""Reader of Rich Text Format: a state machine over its tokens."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import BinaryIO

from muniment.processing.readers.blocks import PAGE_BREAK, Block, collapse_whitespace, make_row, paginate
from muniment.processing.readers.contract import OpenedDocument, ParagraphKind, ReaderResources, ReadingOptions
from muniment.processing.readers.encodings import resolve_encoding
from muniment.processing.readers.errors import parser_errors_as_unreadable
from muniment.processing.readers.rtf.tokens import FontTable, RtfToken, TokenType, tokenize

# Groups whose text is not part of the document. A star before a word marks others.
_HIDDEN_DESTINATION_NAMES = """
    annotation atnauthor atndate atnicn atnid atnparent atnref atnrefend atnrefstart atntime author bkmkend
    bkmkstart blipuid buptim category colorschememapping colortbl comment company creatim datafield datastore
    datafile doccomm docvar dptxbxtext falt fchars ffdeftext ffentrymcr ffexitmcr ffformat ffhelptext ffl ffname
    ffstattext file filetbl fldinst fontemb fontfile formfield generator gridtbl hlinkbase info keycode keywords
    latentstyles lchars listlevel listname listoverridetable listpicture listtable listtext lsdlockedexcept manager
    mailmerge mmath nextfile nonshppict objalias objclass objdata objname objsect objtime operator panose
    passwordhash pgptbl pict pn pnseclvl pntext printim private propname propsets protusertbl revtbl revtim rsidtbl
    rxe shpinst sn sp staticval stylesheet subject sv svb tc template themedata title txe ud upr userprops vern
    wgrffmtfilter windowcaption writereservation writereservhash xe xform xmlattrname xmlattrvalue xmlclose xmlname
    xmlnstbl xmlopen
"""


_HIDDEN_DESTINATIONS = frozenset(_HIDDEN_DESTINATION_NAMES.split())


_VISIBLE_STARRED = frozenset({"shppict", "shptxt", "footnote"})


_SPECIAL_CHARACTERS = {
    "tab": "\t", "emdash": "—", "endash": "–", "emspace": " ", "enspace": " ", "qmspace": " ", "bullet": "•",
    "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "line": "\n", "softline": "\n",
}  # fmt: skip


_SYMBOL_CHARACTERS = {"\\": "\\", "{": "{", "}": "}", "~": "\xa0", "_": "-", "-": ""}


_CODEPAGES = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850", "ansi": "cp1252"}


_BREAKS = frozenset({"page", "softpage"})


@dataclass(frozen=True, slots=True)
class _State:
    """State that a group inherits and that ends with it."""

    is_hidden_destination: bool = False
    is_hidden: bool = False
    font: int | None = None
    fallback_bytes: int = 1
    """Number of fallback bytes after a Unicode character, for programs without Unicode."""
    is_note: bool = False
    is_in_font_table: bool = False


class RtfParser:
    def __init__(self) -> None:
        self._state = _State()
        self._state_stack: list[_State] = []
        self._fonts = FontTable()
        self._codepage = "cp1252"
        self._fallback_bytes_left = 0
        self._undecoded_bytes = bytearray()
        self._text_parts: list[str] = []
        self._blocks: list[Block] = []
        self._notes: list[str] = []
        self._row: list[str] = []
        self._rows: list[str] = []
        self._kind = ParagraphKind.TEXT
        self._is_first_in_group = False
        self._control_words: dict[str, Callable[[int | None], None]] = {
            "par": self._end_paragraph, "sect": self._end_section, "cell": self._end_cell, "nestcell": self._end_cell,
            "row": self._end_row, "nestrow": self._end_row, "pard": self._reset, "u": self._add_unicode,
            "uc": self._set_skip, "f": self._set_font, "v": self._set_hidden, "plain": lambda _: self._set_hidden(0),
            "ansicpg": self._set_codepage, "deff": self._fonts.set_default, "fcharset": self._fonts.set_charset,
            "cpg": self._fonts.set_codepage, "ls": self._make_item, "outlinelevel": self._make_heading,
        }  # fmt: skip

    def read(self, data: bytes) -> list[Block]:
        for lexeme in tokenize(data):
            self._handle(lexeme)
        self._end_paragraph(None)
        self._end_table()
        return [*self._blocks, *(Block(f"[{number}] {note}") for number, note in enumerate(self._notes, start=1))]

    def _handle(self, token: RtfToken) -> None:
        if token.token_type is TokenType.BYTES:
            self._add_bytes(token.content)
        else:
            self._flush()
            {
                TokenType.OPEN: self._open,
                TokenType.CLOSE: self._close,
                TokenType.CONTROL_SYMBOL: self._control_symbol,
                TokenType.CONTROL_WORD: self._control_word,
            }[token.token_type](token)
        if token.token_type is not TokenType.OPEN:
            self._is_first_in_group = self._is_first_in_group and token.word == "*"

    def _open(self, _: RtfToken) -> None:
        self._state_stack.append(self._state)
        self._is_first_in_group = True
        self._fallback_bytes_left = 0

    def _close(self, _: RtfToken) -> None:
        was_note = self._state.is_note
        self._state = self._state_stack.pop() if self._state_stack else _State()
        self._fallback_bytes_left = 0
        if was_note and not self._state.is_note:
            self._end_note()

    def _control_symbol(self, token: RtfToken) -> None:
        if token.word == "*":
            self._state = replace(self._state, is_hidden_destination=True)
        elif token.word in "\r\n":
            self._end_paragraph(None)
        else:
            self._add(_SYMBOL_CHARACTERS.get(token.word, ""))

    def _control_word(self, token: RtfToken) -> None:
        word = token.word
        self._fallback_bytes_left = 0
        if word in _HIDDEN_DESTINATIONS:
            self._state = replace(self._state, is_hidden_destination=True)
        elif word in _VISIBLE_STARRED:
            self._begin_destination(word)
        elif word in _SPECIAL_CHARACTERS:
            self._add(_SPECIAL_CHARACTERS[word])
        elif word in _BREAKS:
            self._add(PAGE_BREAK)
        elif word == "fonttbl":
            self._state = replace(self._state, is_hidden_destination=True, is_in_font_table=True)
        elif word in _CODEPAGES:
            self._codepage = _CODEPAGES[word]
        elif known := self._control_words.get(word):
            known(token.number)

    def _begin_destination(self, word: str) -> None:
        if word == "footnote":
            self._add(f"[{len(self._notes) + 1}]")
            self._notes.append("")
        is_hidden = self._state_stack[-1].is_hidden_destination if self._state_stack else False
        self._state = replace(
            self._state, is_hidden_destination=is_hidden, is_note=self._state.is_note or word == "footnote"
        )

    def _add(self, text: str) -> None:
        if self._state.is_hidden_destination or self._state.is_hidden:
            return
        if self._state.is_note:
            self._notes[-1] += text
        else:
            self._text_parts.append(text)

    def _add_bytes(self, content: bytes) -> None:
        skipped = min(self._fallback_bytes_left, len(content))
        self._fallback_bytes_left -= skipped
        if not self._state.is_hidden_destination:
            self._undecoded_bytes += content[skipped:]

    def _flush(self) -> None:
        """Decode the collected bytes together, because a character may have several."""
        if self._undecoded_bytes:
            encoding = self._fonts.find_encoding(self._state.font) or self._codepage
            self._add(self._undecoded_bytes.decode(encoding, errors="replace"))
            self._undecoded_bytes.clear()

    def _add_unicode(self, number: int | None) -> None:
        code = (number or 0) % 0x10000
        self._add(chr(code))
        self._fallback_bytes_left = self._state.fallback_bytes

    def _set_skip(self, number: int | None) -> None:
        self._state = replace(self._state, fallback_bytes=max(number or 0, 0))

    def _set_font(self, number: int | None) -> None:
        self._state = replace(self._state, font=number)
        if self._state.is_in_font_table:
            self._fonts.begin_font(number)

    def _set_hidden(self, number: int | None) -> None:
        self._state = replace(self._state, is_hidden=number != 0)

    def _set_codepage(self, number: int | None) -> None:
        self._codepage = resolve_encoding(f"cp{number}") or self._codepage

    def _make_item(self, _: int | None) -> None:
        if self._kind is ParagraphKind.TEXT:
            self._kind = ParagraphKind.LIST_ITEM

    def _make_heading(self, _: int | None) -> None:
        self._kind = ParagraphKind.HEADING

    def _reset(self, _: int | None) -> None:
        self._kind = ParagraphKind.TEXT

    def _end_paragraph(self, _: int | None) -> None:
        if self._state.is_hidden_destination:
            return
        if self._state.is_note:
            self._add("\n")
        elif self._row:
            self._add(" ")  # a paragraph within a cell
        else:
            text = self._take_text()
            if text.strip(" \t\n"):
                self._end_table()
                self._blocks.append(Block(text.strip(" \t"), self._kind))

    def _end_section(self, _: int | None) -> None:
        self._end_paragraph(None)
        self._blocks.append(Block(PAGE_BREAK))

    def _end_cell(self, _: int | None) -> None:
        if not self._state.is_hidden_destination:
            self._row.append(collapse_whitespace(self._take_text()))

    def _end_row(self, _: int | None) -> None:
        self._rows.append(make_row(self._row))
        self._row = []

    def _end_table(self) -> None:
        text = "\n".join(row for row in self._rows if row)
        self._rows = []
        if text:
            self._blocks.append(Block(text, ParagraphKind.TABLE))

    def _end_note(self) -> None:
        self._notes[-1] = collapse_whitespace(self._notes[-1])

    def _take_text(self) -> str:
        # Combine surrogate pairs.
        text = "".join(self._text_parts).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        self._text_parts.clear()
        return text


def open_file(file: BinaryIO, media_type: str, options: ReadingOptions, resources: ReaderResources) -> OpenedDocument:
    with parser_errors_as_unreadable("RTF"):
        blocks = RtfParser().read(file.read())
    return paginate("RTF", lambda: blocks, options, resources, has_pages=True)
