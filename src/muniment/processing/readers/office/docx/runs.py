"""Content of a Word paragraph: text, breaks, fields, notes, images and text boxes."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from muniment.processing.readers.blocks import PAGE_BREAK
from muniment.processing.readers.contract import Figure
from muniment.processing.readers.office.images import EmbeddedImages
from muniment.processing.readers.office.xml import Element, Relationships, attribute, descendants, find, local_name

_SPECIAL_CHARACTERS = {"tab": "\t", "ptab": "\t", "cr": "\n", "noBreakHyphen": "-", "lastRenderedPageBreak": PAGE_BREAK}
_BREAKS = {"page": PAGE_BREAK}
_HIDDEN_ELEMENTS = frozenset(
    {"del", "moveFrom", "pPr", "rPr", "delText", "instrText", "delInstrText", "rt", "sdtPr", "fldData"}
)
_FALSE_VALUES = frozenset({"0", "false", "off"})
_TEXT_BOX, _PICTURES = "txbxContent", ("blip", "imagedata")
_IN_DRAWING = (_TEXT_BOX, "extent", *_PICTURES)
_PRIVATE_USE = range(0xE000, 0xF900)


@dataclass(slots=True)
class ParagraphContent:
    """Content of one paragraph."""

    text_parts: list[str] = field(default_factory=list)
    figures: tuple[Figure, ...] = ()
    text_boxes: list[Element] = field(default_factory=list)
    """Text boxes, which contain separate paragraphs."""
    fields: list[bool] = field(default_factory=list)
    """For each open field: whether its result has begun. The field code comes before it."""

    @property
    def text(self) -> str:
        return "".join(self.text_parts)

    @property
    def is_in_field_code(self) -> bool:
        return not all(self.fields)


@dataclass(slots=True)
class NoteMarks:
    """Marks of footnotes and endnotes in the order of their references."""

    marks: dict[tuple[str, str], str] = field(default_factory=dict)

    def mark_for(self, kind: str, note_id: str) -> str:
        return self.marks.setdefault((kind, note_id), f"[{len(self.marks) + 1}]")


class RunReader:
    def __init__(self, relationships: Relationships, images: EmbeddedImages, notes: NoteMarks) -> None:
        self._relationships = relationships
        self._images = images
        self._notes = notes
        self._special: dict[str, Callable[[Element, ParagraphContent], None]] = {
            "br": self._add_break,
            "sym": self._add_symbol,
            "fldChar": self._track_field,
            "footnoteReference": self._add_note,
            "endnoteReference": self._add_note,
            "drawing": self._add_drawing,
            "pict": self._add_drawing,
            "object": self._add_drawing,
            "AlternateContent": self._add_choice,
        }

    def read(self, elements: Iterable[Element]) -> ParagraphContent:
        content = ParagraphContent()
        for element in elements:
            self._add(element, content)
        return content

    def _add(self, element: Element, content: ParagraphContent) -> None:
        name = local_name(element)
        if name in _HIDDEN_ELEMENTS or _is_hidden(element, name):
            return
        if special := self._special.get(name):
            special(element, content)
        elif name == "t":
            if not content.is_in_field_code:
                content.text_parts.append(element.text or "")
        elif name in _SPECIAL_CHARACTERS:
            content.text_parts.append(_SPECIAL_CHARACTERS[name])
        else:
            for child in element:
                self._add(child, content)

    def _add_break(self, element: Element, content: ParagraphContent) -> None:
        content.text_parts.append(_BREAKS.get(attribute(element, "type") or "", "\n"))

    def _add_symbol(self, element: Element, content: ParagraphContent) -> None:
        """Add a character of a symbol font. Most have no meaning without the font."""
        try:
            code = int(attribute(element, "char") or "", 16)
        except ValueError:
            return
        if 0x20 <= code <= 0x10FFFF and code not in _PRIVATE_USE:
            content.text_parts.append(chr(code))

    def _track_field(self, element: Element, content: ParagraphContent) -> None:
        move = attribute(element, "fldCharType")
        if move == "begin":
            content.fields.append(False)
        elif move == "separate" and content.fields:
            content.fields[-1] = True
        elif move == "end" and content.fields:
            content.fields.pop()

    def _add_note(self, element: Element, content: ParagraphContent) -> None:
        kind = local_name(element).removesuffix("Reference")
        content.text_parts.append(self._notes.mark_for(kind, attribute(element, "id") or ""))

    def _add_choice(self, element: Element, content: ParagraphContent) -> None:
        chosen = find(element, "Choice")
        chosen = find(element, "Fallback") if chosen is None else chosen
        for child in chosen if chosen is not None else ():
            self._add(child, content)

    def _add_drawing(self, element: Element, content: ParagraphContent) -> None:
        # A "Fallback" repeats its sibling for older programs.
        seen = [each for each in descendants(element, *_IN_DRAWING) if not _has_ancestor("Fallback", each, element)]
        outer = [each for each in seen if not _has_ancestor(_TEXT_BOX, each, element)]
        content.text_boxes += [each for each in outer if local_name(each) == _TEXT_BOX]
        extent = next((each for each in outer if local_name(each) == "extent"), None)
        size = (_extent_emu(extent, "cx"), _extent_emu(extent, "cy")) if extent is not None else None
        for blip in (each for each in outer if local_name(each) in _PICTURES):
            reference = attribute(blip, "embed") or attribute(blip, "id")
            content.figures += self._images.figure_for(self._relationships.find_target(reference), size)


def _is_hidden(element: Element, name: str) -> bool:
    vanish = find(element, "rPr", "vanish") if name == "r" else None
    return vanish is not None and attribute(vanish, "val") not in _FALSE_VALUES


def _has_ancestor(name: str, element: Element, top: Element) -> bool:
    """Whether an ancestor of this name is between `top` and the element."""
    for ancestor in element.iterancestors():
        if ancestor is top:
            return False
        if local_name(ancestor) == name:
            return True
    return False


def _extent_emu(extent: Element, name: str) -> int:
    value = attribute(extent, name) or ""
    return int(value) if value.isdecimal() and len(value) < 12 else 0
