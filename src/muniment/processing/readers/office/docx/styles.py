"""Paragraph kinds and page breaks from the styles of a Word document."""

import re
from dataclasses import dataclass

from muniment.processing.readers.contract import ParagraphKind
from muniment.processing.readers.office.xml import Element, attribute, children, find

_HEADING = re.compile(r"(?:heading \d|title|subtitle)$", re.IGNORECASE)
_BODY_LEVEL = 9
_MAX_ANCESTORS = 20
_FALSE_VALUES = frozenset({"0", "false", "off"})


@dataclass(frozen=True, slots=True)
class _Style:
    name: str
    parent: str | None
    properties: Element | None


class DocxStyles:
    def __init__(self, root: Element | None) -> None:
        styles = list(children(root, "style")) if root is not None else []
        self._styles = {attribute(style, "styleId") or "": _read_style(style) for style in styles}

    def kind_of(self, properties: Element | None) -> ParagraphKind:
        """Return the kind by the paragraph's own properties, or else by its style and the styles it is based on."""
        numbered: bool | None = _is_numbered(properties)
        if _outline(properties):
            return ParagraphKind.HEADING
        for style in self._iterate_ancestry(properties):
            if _HEADING.match(style.name) or _outline(style.properties):
                return ParagraphKind.HEADING
            if style.name.lower() == "caption":
                return ParagraphKind.CAPTION
            if numbered is None:
                numbered = _is_numbered(style.properties)
        return ParagraphKind.LIST_ITEM if numbered else ParagraphKind.TEXT

    def begins_page(self, properties: Element | None) -> bool:
        styles = self._iterate_ancestry(properties)
        breaks = [find(each, "pageBreakBefore") for each in (properties, *(style.properties for style in styles))]
        return next((attribute(each, "val") not in _FALSE_VALUES for each in breaks if each is not None), False)

    def _iterate_ancestry(self, properties: Element | None) -> list[_Style]:
        reference = find(properties, "pStyle")
        style = self._styles.get(attribute(reference, "val") or "") if reference is not None else None
        found: list[_Style] = []
        while style and len(found) < _MAX_ANCESTORS:  # some styles are based on themselves
            found.append(style)
            style = self._styles.get(style.parent or "")
        return found


def _read_style(style: Element) -> _Style:
    name, parent = find(style, "name"), find(style, "basedOn")
    return _Style(
        name=(attribute(name, "val") or "") if name is not None else "",
        parent=attribute(parent, "val") if parent is not None else None,
        properties=find(style, "pPr"),
    )


def _outline(properties: Element | None) -> bool:
    level = find(properties, "outlineLvl")
    value = (attribute(level, "val") or "") if level is not None else ""
    return value.isdecimal() and int(value[:3]) < _BODY_LEVEL


def _is_numbered(properties: Element | None) -> bool | None:
    """Whether the paragraph is a list item; `None` if not specified. Number 0 removes the numbering of a style."""
    number = find(properties, "numPr", "numId")
    return attribute(number, "val") != "0" if number is not None else None
