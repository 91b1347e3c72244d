"""Which of our ids a refusal is about. The names of the fields tell, not the prose, which may be translated."""

from collections.abc import Mapping

from muniment.archival.paperless.errors import Rejected, UnknownId
from muniment.archival.paperless.kinds import Kind

_KINDS: Mapping[str, Kind] = {
    "tags": Kind.TAG,
    "correspondent": Kind.CORRESPONDENT,
    "document_type": Kind.DOCUMENT_TYPE,
    "custom_fields": Kind.CUSTOM_FIELD,
}


def unknown_id(error: Rejected) -> UnknownId | None:
    """What the refusal means if an id is at fault and nothing else."""
    if not error.fields or not error.fields <= _KINDS.keys():
        return None
    return UnknownId(_KINDS[min(error.fields)], error.reason)
