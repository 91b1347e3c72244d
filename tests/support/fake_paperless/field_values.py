"""Validation of custom field values."""

import re
from datetime import date
from typing import Any

from tests.support.fake_paperless.state import NamedObject


def check_value(field: NamedObject, value: Any) -> str | None:
    """Return the error message of Paperless for the value, or None."""
    if value is None:
        return None
    match field.values.get("data_type"):
        case "string" if len(str(value)) > 128:
            return f"Ensure this value has at most 128 characters (it has {len(str(value))})."
        case "integer" if not re.fullmatch(r"-?\d+", str(value)):
            return "Enter a valid integer."
        case "date" if not _is_date(value):
            return "Date has wrong format. Use one of these formats instead: YYYY-MM-DD."
        case "monetary" if not re.fullmatch(r"([A-Z]{3})?-?\d+(\.\d{1,2})?", str(value)):
            return "Must be a two-decimal number with optional currency code e.g. GBP123.45"
    return None


def _is_date(value: Any) -> bool:
    try:
        date.fromisoformat(str(value))
    except ValueError:
        return False
    return True
