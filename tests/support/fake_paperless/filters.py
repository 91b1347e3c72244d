"""Filters for lists of documents. Unknown filters are ignored without an error, as in Paperless."""

from collections.abc import Callable, Mapping
from typing import Any

from tests.support.fake_paperless.call import Call, refuse, refuse_text
from tests.support.fake_paperless.field_queries import field_query
from tests.support.fake_paperless.state import Document

Test = Callable[[Document], bool]
Maker = Callable[[Call, str], Test | None]


def predicates(call: Call) -> list[Test]:
    """Return a predicate for each known filter with a valid value. If a filter is repeated, the last one counts."""
    makers = {**_FILTERS, **(_ONLY_3 if call.flavour == 3 else {})}
    found = []
    for name in call.request.query:
        maker = makers.get(name)
        value = call.request.last(name)
        # Only the search index accepts an empty value.
        test = maker(call, value) if maker and (value or name == "query") else None
        if test is not None:
            found.append(test)
    return found


def _ids(value: str) -> set[int] | None:
    """Return None if any value is not a number: then the whole filter is ignored."""
    parts = value.split(",")
    return {int(part) for part in parts} if all(part.isdecimal() for part in parts) else None


def _number(field: str, read: Callable[[Document], Any]) -> Maker:
    def make(_: Call, value: str) -> Test:
        if not value.isdecimal():
            raise refuse(400, {field: ["Enter a number."]})
        number = int(value)
        return lambda document: number == read(document)

    return make


def _among(read: Callable[[Document], Any]) -> Maker:
    def make(_: Call, value: str) -> Test | None:
        ids = _ids(value)
        return None if ids is None else lambda document: read(document) in ids

    return make


def _sets(decide: Callable[[set[int], set[int]], bool], read: Callable[[Document], Any]) -> Maker:
    def make(_: Call, value: str) -> Test | None:
        ids = _ids(value)
        return None if ids is None else lambda document: decide(ids, set(read(document)))

    return make


def _text(compare: Callable[[str, str], bool], read: Callable[[Document], str]) -> Maker:
    def make(_: Call, value: str) -> Test:
        wanted = value.lower()
        return lambda document: compare(read(document).lower(), wanted)

    return make


def _named(kind: str, read: Callable[[Document], list[int | None]], compare: Callable[[str, str], bool]) -> Maker:
    def make(call: Call, value: str) -> Test:
        things = call.state.of_kind(kind).values()
        ids = {thing.id for thing in things if compare(thing.name.lower(), value.lower())}
        return lambda document: bool(ids.intersection(read(document)))

    return make


def _since(compare: Callable[[str, str], bool], read: Callable[[Document], str]) -> Maker:
    return lambda _, value: lambda document: compare(read(document)[: len(value)], value)


def _truth(read: Callable[[Document], object]) -> Maker:
    return lambda _, value: lambda document: bool(read(document)) == (value.lower() in ("true", "1"))


def _search(call: Call, value: str) -> Test:
    """Search the title by words, with the prefixes `title:` and `tag:` of the search index."""
    if value.count('"') % 2 or value.endswith(":"):
        if call.flavour == 3:
            raise refuse_text(400, "Error listing search results, check logs for more detail.")
        return lambda _: False
    field, _, word = value.rpartition(":")
    if field == "tag":
        test = _FILTERS["tags__name__iexact"](call, word)
        assert test is not None
        return test
    return lambda document: bool(word) and word.lower() in document.title.lower()


def _equal(left: str, right: str) -> bool:
    return left == right


def _contains(left: str, right: str) -> bool:
    return right in left


def _tags_of(document: Document) -> Any:
    return document.tags


def _correspondent_of(document: Document) -> Any:
    return [document.correspondent]


def _fields_of(document: Document) -> Any:
    return document.custom_fields


def _values_of(document: Document) -> str:
    return "\n".join(map(str, document.custom_fields.values()))


def _title_of(document: Document) -> str:
    return document.title


def _checksum_of(document: Document) -> str:
    return document.checksum


_FILTERS: Mapping[str, Maker] = {
    "tags__id__all": _sets(lambda wanted, has: wanted <= has, _tags_of),
    "tags__id__in": _sets(lambda wanted, has: bool(wanted & has), _tags_of),
    "tags__id__none": _sets(lambda wanted, has: not wanted & has, _tags_of),
    "tags__id": lambda call, value: _tag(value),
    "tags__name__iexact": _named("tags", _tags_of, _equal),
    "tags__name__icontains": _named("tags", _tags_of, _contains),
    "custom_field_query": lambda call, value: field_query(call, value),
    "custom_fields__icontains": _text(_contains, _values_of),
    "custom_fields__id__all": _sets(lambda wanted, has: wanted <= has, _fields_of),
    "custom_fields__id__in": _sets(lambda wanted, has: bool(wanted & has), _fields_of),
    "checksum__iexact": _text(_equal, _checksum_of),
    "checksum__icontains": _text(_contains, _checksum_of),
    "checksum__istartswith": _text(str.startswith, _checksum_of),
    "title__iexact": _text(_equal, _title_of),
    "title__icontains": _text(_contains, _title_of),
    "title_content": _text(_contains, _title_of),
    "search": _search,
    "query": _search,
    "original_filename__iexact": _text(_equal, lambda document: document.original_file_name),
    "id": _number("id", lambda document: document.id),
    "id__in": _among(lambda document: document.id),
    "correspondent__id": _number("correspondent__id", lambda document: document.correspondent),
    "correspondent__id__in": _among(lambda document: document.correspondent),
    "correspondent__name__iexact": _named("correspondents", _correspondent_of, _equal),
    "document_type__id": _number("document_type__id", lambda document: document.document_type),
    "storage_path__id": _number("storage_path__id", lambda document: document.storage_path),
    "archive_serial_number": _number("archive_serial_number", lambda document: document.archive_serial_number),
    "owner__id": _number("owner__id", lambda document: document.owner),
    "mime_type": _text(_equal, lambda document: document.mime_type),
    "created__gte": _since(str.__ge__, lambda document: document.created),
    "created__lte": _since(str.__le__, lambda document: document.created),
    "created__gt": _since(str.__gt__, lambda document: document.created),
    "created__lt": _since(str.__lt__, lambda document: document.created),
    "created__year": _since(_equal, lambda document: document.created[:4]),
    "added__date__gte": _since(str.__ge__, lambda document: document.added),
    "is_tagged": _truth(_tags_of),
    "has_custom_fields": _truth(_fields_of),
}
_ONLY_3: Mapping[str, Maker] = {"title_search": _search, "text": _search}


def _tag(value: str) -> Test:
    if not value.isdecimal():
        raise refuse(400, {"tags__id": ["Enter a number."]})
    return lambda document: int(value) in document.tags
