"""Hardened XML of office files: nothing external is loaded, entities are refused, namespaces are ignored in names."""

from collections.abc import Iterator
from typing import IO, Any, cast

from lxml import etree

from muniment.processing.readers.errors import Unreadable, UnreadableCode
from muniment.processing.readers.office.package import OfficePackage, resolve_target

Element = etree._Element  # noqa: SLF001  # it has no public name


def parse_part(package: OfficePackage, name: str) -> Element:
    """Return the root of an XML part, or raise `Unreadable` if it is malformed or declares entities."""
    # `huge_tree` stays off, because it would remove the limits on depth and on the length of a text.
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(package.read(name), parser)
    except etree.XMLSyntaxError as error:
        raise _unreadable(name, error) from error
    _refuse_entities(root, name)
    return root


def iterate_part(stream: IO[bytes], name: str, tags: tuple[str, ...]) -> Iterator[Element]:
    """Yield elements of these names, releasing each when the next one is requested."""
    qualified = tuple("{*}" + tag for tag in tags)
    events = etree.iterparse(
        stream, events=("end",), tag=qualified, resolve_entities=False, no_network=True, load_dtd=False,
        remove_comments=True, remove_pis=True,
    )  # fmt: skip
    is_first = True
    try:
        for _, element in events:
            if is_first:
                _refuse_entities(element, name)
                is_first = False
            yield element
            _release(element)
    except etree.XMLSyntaxError as error:
        raise _unreadable(name, error) from error


def local_name(element: Element) -> str:
    """Return the name without the namespace, or an empty string if it is not an element."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: Element, name: str) -> str | None:
    """Return an attribute by its name without the namespace."""
    value = element.get(name)
    if value is not None:
        return str(value)
    return next((str(value) for key, value in element.attrib.items() if str(key).endswith("}" + name)), None)


def relationship_id(element: Element) -> str | None:
    """Return the id of the referenced part: an `id` with a namespace. One without is something else."""
    return next((str(value) for key, value in element.attrib.items() if str(key).endswith("}id")), None)


def children(element: Element, name: str) -> Iterator[Element]:
    return (child for child in element if local_name(child) == name)


def find(element: Element | None, *path: str) -> Element | None:
    """Return the first descendant along these names, each a child of the previous one."""
    for name in path:
        if element is None:
            return None
        element = next(children(element, name), None)
    return element


def descendants(element: Element, *names: str) -> Iterator[Element]:
    return element.iter(*("{*}" + name for name in names))


class Relationships:
    """Relationships between the parts of an Office Open XML file."""

    def __init__(self, package: OfficePackage, part: str) -> None:
        folder, _, base = part.rpartition("/")
        name = f"{folder}/_rels/{base}.rels" if folder else f"_rels/{base}.rels"
        entries = parse_part(package, name) if name in package else ()
        inner = [entry for entry in entries if entry.get("TargetMode") != "External"]
        self._targets = {str(entry.get("Id")): resolve_target(part, entry.get("Target") or "") for entry in inner}
        self._types = [((entry.get("Type") or "").rpartition("/")[2], str(entry.get("Id"))) for entry in inner]

    def find_target(self, relation_id: str | None) -> str | None:
        return self._targets.get(relation_id or "")

    def targets_of_type(self, kind: str) -> list[str]:
        """Return the parts with this type of relationship, for example `styles`."""
        return [self._targets[relation_id] for known, relation_id in self._types if known == kind]


def main_document_part(package: OfficePackage, fallback: str) -> str:
    """Return the part with the document itself."""
    return next(iter(Relationships(package, "").targets_of_type("officeDocument")), fallback)


def _refuse_entities(element: Element, name: str) -> None:
    dtd = element.getroottree().docinfo.internalDTD
    if dtd is not None and next(iter(cast("Any", dtd).iterentities()), None) is not None:
        raise Unreadable(UnreadableCode.CORRUPT, f"The file is not supported ({name} declares XML entities).")


def _unreadable(name: str, error: etree.XMLSyntaxError) -> Unreadable | MemoryError:
    if getattr(error, "code", None) == etree.ErrorTypes.ERR_NO_MEMORY:
        return MemoryError()
    return Unreadable(UnreadableCode.CORRUPT, f"The file is damaged ({name} is not valid XML).")


def _release(element: Element) -> None:
    element.clear()
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]
