"""The things that a document can refer to. The value is the word in Paperless's addresses."""

from enum import StrEnum


class Kind(StrEnum):
    TAG = "tags"
    CORRESPONDENT = "correspondents"
    DOCUMENT_TYPE = "document_types"
    CUSTOM_FIELD = "custom_fields"
