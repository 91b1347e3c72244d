"""Content of an OpenDocument paragraph, where text stands both in and between elements."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from muniment.processing.readers.blocks import PAGE_BREAK
from muniment.processing.readers.office.package import resolve_target
from muniment.processing.readers.office.xml import Element, attribute, descendants, find, local_name

_EMU_PER_UNIT = {"cm": 360_000, "mm": 36_000, "in": 914_400, "pt": 12_700, "pc": 152_400, "px": 9525}
_LENGTH = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)([a-z]{2})")
_SPECIAL_CHARACTERS = {"tab": "\t", "line-break": "\n", "soft-page-break": PAGE_BREAK}
_HIDDEN_ELEMENTS = frozenset(
    {"annotation", "annotation-end", "ruby-text", "tracked-changes", "title", "desc", "object", "object-ole", "script"}
)
_MAX_SPACES = 1000
_SPACE = re.compile(r"[ \t\r\n]+")


@dataclass(frozen=True, slots=True)
class ImageReference:
    name: str
    size_emu: tuple[int, int] | None


@dataclass(slots=True)
class InlineContent:
    text_parts: list[str] = field(default_factory=list)
    notes: list[tuple[str, Element]] = field(default_factory=list)
    """Mark and content of each note."""
    images: list[ImageReference] = field(default_factory=list)
    text_boxes: list[Element] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.text_parts).strip(" ")


def read_content(elements: Iterable[Element]) -> InlineContent:
    content = InlineContent()
    for element in elements:
        _add(element, content)
    return content


def _add(element: Element, content: InlineContent) -> None:
    name = local_name(element)
    if name in _HIDDEN_ELEMENTS:
        return
    if special := _SPECIAL.get(name):
        special(element, content)
        return
    if name in _SPECIAL_CHARACTERS:
        content.text_parts.append(_SPECIAL_CHARACTERS[name])
    _add_text(element.text, content)
    for child in element:
        _add(child, content)
        _add_text(child.tail, content)


def _add_text(text: str | None, content: InlineContent) -> None:
    """Add text. Whitespace in the file is collapsed."""
    if text:
        content.text_parts.append(_SPACE.sub(" ", text))


def _add_spaces(element: Element, content: InlineContent) -> None:
    count = attribute(element, "c") or "1"
    content.text_parts.append(" " * min(int(count[:6]) if count.isdecimal() else 1, _MAX_SPACES))


def _add_note(element: Element, content: InlineContent) -> None:
    citation, body = find(element, "note-citation"), find(element, "note-body")
    mark = f"[{(citation.text or '').strip() if citation is not None else '*'}]"
    content.text_parts.append(mark)
    if body is not None:
        content.notes.append((mark, body))


def _add_frame(element: Element, content: InlineContent) -> None:
    """Add an image, often given in several formats of which the first is the best, or a text box."""
    boxes = [child for child in element if local_name(child) == "text-box"]
    content.text_boxes += boxes
    image = find(element, "image") if not boxes else None
    target = attribute(image, "href") if image is not None else None
    if target and "://" not in target:
        content.images.append(ImageReference(resolve_target("content.xml", target), _frame_size(element)))


def _add_shape(element: Element, content: InlineContent) -> None:
    """Add a drawn shape with text."""
    if next(descendants(element, "p"), None) is not None:
        content.text_boxes.append(element)


def _frame_size(frame: Element) -> tuple[int, int] | None:
    lengths = [_LENGTH.fullmatch(attribute(frame, side) or "") for side in ("width", "height")]
    found = [round(float(each[1]) * _EMU_PER_UNIT[each[2]]) for each in lengths if each and each[2] in _EMU_PER_UNIT]
    return (found[0], found[1]) if len(found) == 2 else None


_SPECIAL: dict[str, Callable[[Element, InlineContent], None]] = {
    "s": _add_spaces,
    "note": _add_note,
    "frame": _add_frame,
    "custom-shape": _add_shape,
    "rect": _add_shape,
    "ellipse": _add_shape,
}
