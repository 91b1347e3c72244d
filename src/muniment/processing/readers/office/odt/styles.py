"""Paragraph kinds and page breaks from the styles of an OpenDocument text."""

from dataclasses import dataclass

from muniment.processing.readers.contract import ParagraphKind
from muniment.processing.readers.office.xml import Element, attribute, descendants, find

_KINDS = {
    "title": ParagraphKind.HEADING,
    "subtitle": ParagraphKind.HEADING,
    "heading": ParagraphKind.HEADING,
    "caption": ParagraphKind.CAPTION,
    "figure": ParagraphKind.CAPTION,
    "illustration": ParagraphKind.CAPTION,
}
_MAX_ANCESTORS = 20


@dataclass(frozen=True, slots=True)
class OdtStyle:
    kind: ParagraphKind | None = None
    """Kind of paragraph, if the style alone determines it."""
    begins_page: bool = False
    ends_page: bool = False


class OdtStyles:
    """Common and automatic styles. Headings have their own elements; titles and captions are only styles."""

    def __init__(self, roots: list[Element]) -> None:
        styles = [style for root in roots for style in descendants(root, "style")]
        paragraph_styles = [style for style in styles if attribute(style, "family") == "paragraph"]
        self._elements = {attribute(style, "name") or "": style for style in paragraph_styles}
        self._known: dict[str, OdtStyle] = {}

    def get(self, name: str | None) -> OdtStyle:
        name = name or ""
        if name not in self._known:
            self._known[name] = self._read(name)
        return self._known[name]

    def _read(self, name: str) -> OdtStyle:
        ancestry = self._ancestry(name)
        names = [attribute(style, "name") or "" for style in ancestry]
        breaks = [find(style, "paragraph-properties") for style in ancestry[:1]]
        own = next((each for each in breaks if each is not None), None)
        return OdtStyle(
            kind=next((_KINDS[each.lower()] for each in [name, *names] if each.lower() in _KINDS), None),
            begins_page=_is_set(own, "break-before") or any(_changes_master_page(style) for style in ancestry[:1]),
            ends_page=_is_set(own, "break-after"),
        )

    def _ancestry(self, name: str) -> list[Element]:
        found: list[Element] = []
        style = self._elements.get(name)
        while style is not None and len(found) < _MAX_ANCESTORS:
            found.append(style)
            style = self._elements.get(attribute(style, "parent-style-name") or "")
        return found


def _is_set(properties: Element | None, name: str) -> bool:
    return properties is not None and attribute(properties, name) == "page"


def _changes_master_page(style: Element) -> bool:
    """Whether the style sets another master page, which begins a new page."""
    return bool(attribute(style, "master-page-name"))
