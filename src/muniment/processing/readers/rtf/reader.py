"""Reader of Rich Text Format: the state machine over its tokens."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import BinaryIO

from muniment.processing.readers.blocks import PAGE_BREAK, Block, in_one_line, make_row, read_pages
from muniment.processing.readers.contract import Means, Options, ParagraphKind, Reading
from muniment.processing.readers.encodings import known_encoding
from muniment.processing.readers.errors import damage_is_unreadable
from muniment.processing.readers.rtf.tokens import FontTable, Lexeme, Token, split_rtf

# Groups whose text is not part of the document. A star before a word says the same of any other.
_UNSEEN_NAMES = """
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


_UNSEEN = frozenset(_UNSEEN_NAMES.split())


_SEEN_THOUGH_STARRED = frozenset({"shppict", "shptxt", "footnote"})


_LETTERS = {
    "tab": "\t", "emdash": "—", "endash": "–", "emspace": " ", "enspace": " ", "qmspace": " ", "bullet": "•",
    "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "line": "\n", "softline": "\n",
}  # fmt: skip


_SIGNS = {"\\": "\\", "{": "{", "}": "}", "~": "\xa0", "_": "-", "-": ""}


_CODEPAGES = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850", "ansi": "cp1252"}


_BREAKS = frozenset({"page", "softpage"})


@dataclass(frozen=True, slots=True)
class _State:
    """What a group inherits, and what ends with it."""

    is_unseen: bool = False
    is_hidden: bool = False
    font: int | None = None
    skip: int = 1
    """How many bytes stand behind a Unicode character for programs that do not know it."""
    is_note: bool = False
    in_fonts: bool = False


class RtfDocument:
    def __init__(self) -> None:
        self._state = _State()
        self._outer: list[_State] = []
        self._fonts = FontTable()
        self._codepage = "cp1252"
        self._to_skip = 0
        self._waiting = bytearray()
        self._letters: list[str] = []
        self._blocks: list[Block] = []
        self._notes: list[str] = []
        self._row: list[str] = []
        self._rows: list[str] = []
        self._kind = ParagraphKind.TEXT
        self._is_first_in_group = False
        self._words: dict[str, Callable[[int | None], None]] = {
            "par": self._end_paragraph, "sect": self._end_section, "cell": self._end_cell, "nestcell": self._end_cell,
            "row": self._end_row, "nestrow": self._end_row, "pard": self._reset, "u": self._add_unicode,
            "uc": self._set_skip, "f": self._set_font, "v": self._set_hidden, "plain": lambda _: self._set_hidden(0),
            "ansicpg": self._set_codepage, "deff": self._fonts.set_default, "fcharset": self._fonts.set_charset,
            "cpg": self._fonts.set_codepage, "ls": self._make_item, "outlinelevel": self._make_heading,
        }  # fmt: skip

    def read(self, data: bytes) -> list[Block]:
        for lexeme in split_rtf(data):
            self._take(lexeme)
        self._end_paragraph(None)
        self._end_table()
        return [*self._blocks, *(Block(f"[{number}] {note}") for number, note in enumerate(self._notes, start=1))]

    def _take(self, lexeme: Lexeme) -> None:
        if lexeme.token is Token.BYTES:
            self._add_bytes(lexeme.content)
        else:
            self._flush()
            {Token.OPEN: self._open, Token.CLOSE: self._close, Token.SIGN: self._sign, Token.WORD: self._word}[
                lexeme.token
            ](lexeme)
        if lexeme.token is not Token.OPEN:
            self._is_first_in_group = self._is_first_in_group and lexeme.word == "*"

    def _open(self, _: Lexeme) -> None:
        self._outer.append(self._state)
        self._is_first_in_group = True
        self._to_skip = 0

    def _close(self, _: Lexeme) -> None:
        was_note = self._state.is_note
        self._state = self._outer.pop() if self._outer else _State()
        self._to_skip = 0
        if was_note and not self._state.is_note:
            self._end_note()

    def _sign(self, lexeme: Lexeme) -> None:
        if lexeme.word == "*":
            self._state = replace(self._state, is_unseen=True)
        elif lexeme.word in "\r\n":
            self._end_paragraph(None)
        else:
            self._add(_SIGNS.get(lexeme.word, ""))

    def _word(self, lexeme: Lexeme) -> None:
        word = lexeme.word
        self._to_skip = 0
        if word in _UNSEEN:
            self._state = replace(self._state, is_unseen=True)
        elif word in _SEEN_THOUGH_STARRED:
            self._begin_seen(word)
        elif word in _LETTERS:
            self._add(_LETTERS[word])
        elif word in _BREAKS:
            self._add(PAGE_BREAK)
        elif word == "fonttbl":
            self._state = replace(self._state, is_unseen=True, in_fonts=True)
        elif word in _CODEPAGES:
            self._codepage = _CODEPAGES[word]
        elif known := self._words.get(word):
            known(lexeme.number)

    def _begin_seen(self, word: str) -> None:
        if word == "footnote":
            self._add(f"[{len(self._notes) + 1}]")
            self._notes.append("")
        is_unseen = self._outer[-1].is_unseen if self._outer else False
        self._state = replace(self._state, is_unseen=is_unseen, is_note=self._state.is_note or word == "footnote")

    def _add(self, text: str) -> None:
        if self._state.is_unseen or self._state.is_hidden:
            return
        if self._state.is_note:
            self._notes[-1] += text
        else:
            self._letters.append(text)

    def _add_bytes(self, content: bytes) -> None:
        skipped = min(self._to_skip, len(content))
        self._to_skip -= skipped
        if not self._state.is_unseen:
            self._waiting += content[skipped:]

    def _flush(self) -> None:
        """Bytes are decoded together: a character may have several of them."""
        if self._waiting:
            encoding = self._fonts.encoding_of(self._state.font) or self._codepage
            self._add(self._waiting.decode(encoding, errors="replace"))
            self._waiting.clear()

    def _add_unicode(self, number: int | None) -> None:
        code = (number or 0) % 0x10000
        self._add(chr(code))
        self._to_skip = self._state.skip

    def _set_skip(self, number: int | None) -> None:
        self._state = replace(self._state, skip=max(number or 0, 0))

    def _set_font(self, number: int | None) -> None:
        self._state = replace(self._state, font=number)
        if self._state.in_fonts:
            self._fonts.begin(number)

    def _set_hidden(self, number: int | None) -> None:
        self._state = replace(self._state, is_hidden=number != 0)

    def _set_codepage(self, number: int | None) -> None:
        self._codepage = known_encoding(f"cp{number}") or self._codepage

    def _make_item(self, _: int | None) -> None:
        if self._kind is ParagraphKind.TEXT:
            self._kind = ParagraphKind.LIST_ITEM

    def _make_heading(self, _: int | None) -> None:
        self._kind = ParagraphKind.HEADING

    def _reset(self, _: int | None) -> None:
        self._kind = ParagraphKind.TEXT

    def _end_paragraph(self, _: int | None) -> None:
        if self._state.is_unseen:
            return
        if self._state.is_note:
            self._add("\n")
        elif self._row:
            self._add(" ")  # a paragraph within a cell
        else:
            text = self._take_letters()
            if text.strip(" \t\n"):
                self._end_table()
                self._blocks.append(Block(text.strip(" \t"), self._kind))

    def _end_section(self, _: int | None) -> None:
        self._end_paragraph(None)
        self._blocks.append(Block(PAGE_BREAK))

    def _end_cell(self, _: int | None) -> None:
        if not self._state.is_unseen:
            self._row.append(in_one_line(self._take_letters()))

    def _end_row(self, _: int | None) -> None:
        self._rows.append(make_row(self._row))
        self._row = []

    def _end_table(self) -> None:
        text = "\n".join(row for row in self._rows if row)
        self._rows = []
        if text:
            self._blocks.append(Block(text, ParagraphKind.TABLE))

    def _end_note(self) -> None:
        self._notes[-1] = in_one_line(self._notes[-1])

    def _take_letters(self) -> str:
        # Two halves of a character beyond the first 65,536 become one.
        text = "".join(self._letters).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        self._letters.clear()
        return text


def open_file(file: BinaryIO, media_type: str, options: Options, means: Means) -> Reading:
    with damage_is_unreadable("RTF"):
        blocks = RtfDocument().read(file.read())
    return read_pages("RTF", lambda: blocks, options, means, has_pages=True)
