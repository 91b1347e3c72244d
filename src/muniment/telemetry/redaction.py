"""Remove secrets and document text from log events, error messages and tracebacks."""

import re
import traceback
from collections.abc import Iterator, Mapping
from textwrap import indent
from typing import Any

from structlog.typing import ExcInfo

REDACTED = "***"


SECRET_KEY = re.compile(
    r"pass(word|wd|phrase)|secret|token|authorization|cookie|(api|private|access)[-_]?key|credential", re.IGNORECASE
)


DOCUMENT_KEYS = frozenset({"text", "content", "body", "snippet", "query"})


# The replacements must not match the pattern again: a traceback is redacted per message and then as a whole.
VALUES_IN_ERRORS = (
    # PostgreSQL quotes the row in its details. A value may contain line breaks, so everything after it is removed.
    (re.compile(r"\n(?:DETAIL|CONTEXT):.*", re.DOTALL), "\n(details left out)"),
    (
        re.compile(
            r'(invalid input \w+ for [^:\n]+|out of range|malformed [^:\n]+|syntax error in \w+): ".*', re.DOTALL
        ),
        r"\1 (left out)",
    ),
    (re.compile(r'\bvalue ".*" is out of range', re.DOTALL), "value is out of range"),
    (re.compile(r"\n\[parameters: .*", re.DOTALL), "\n(parameters left out)"),
    # The same for invalid values in messages of pydantic and FastAPI.
    (re.compile(r"input_value=.*, input_type=", re.DOTALL), "input left out, type="),
    (re.compile(r"'input': .*", re.DOTALL), "(input left out)"),
)


SECRETS_IN_STRINGS = (
    (re.compile(r"(://[^\s:/@]*):[^\s/]*@"), rf"\1:{REDACTED}@"),
    (re.compile(r"\b(bearer)\s+[\w.~+/=-]+", re.IGNORECASE), rf"\1 {REDACTED}"),
    (re.compile(r"""(cookie|authorization)(['"]?\s*[=:]).*""", re.IGNORECASE), rf"\1\2 {REDACTED}"),
    (
        re.compile(
            r"""(pass(?:word|wd|phrase)|secret|token|api[-_]?key)(['"]?\s*[=:]\s*)"""
            r"""('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[^\s,;&]+)""",
            re.IGNORECASE,
        ),
        rf"\1\2{REDACTED}",
    ),
)


# On a terminal, control characters in a request path would move the cursor or change colors.
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def redact_event(_logger: object, _method: str, event: Mapping[str, Any]) -> dict[str, Any]:
    """Redact an event, as a structlog processor. It runs second to last, when tracebacks are strings."""
    return {key: _redact(key, value) for key, value in event.items()}


def redact_values(message: str) -> str:
    """Remove the values that databases and validators quote from an error message."""
    for pattern, replacement in VALUES_IN_ERRORS:
        message = pattern.sub(replacement, message)
    return message


def _redact(key: str, value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    if SECRET_KEY.search(key) or key in DOCUMENT_KEYS:
        return REDACTED
    if isinstance(value, Mapping):
        return {str(inner): _redact(str(inner), item) for inner, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_redact(key, item) for item in value]
    if isinstance(value, bytes | bytearray | memoryview):
        return f"({len(value)} bytes)"
    return _redact_string(str(value))


def _redact_string(text: str) -> str:
    text = redact_values(text)
    for pattern, replacement in SECRETS_IN_STRINGS:
        text = pattern.sub(replacement, text)
    return CONTROL.sub(lambda found: repr(found.group())[1:-1], text)


def render_traceback(exc_info: ExcInfo) -> str:
    """Format the error and its causes, oldest first.

    Each message is redacted before the parts are joined, because the end of a quoted value cannot be found in the
    finished text.
    """
    return "".join(_format_chain(exc_info[1], seen=set())).rstrip()


def _format_chain(error: BaseException, seen: set[int]) -> Iterator[str]:
    seen.add(id(error))
    earlier = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if earlier is not None and id(earlier) not in seen:
        yield from _format_chain(earlier, seen)
        yield "\nwhich led to:\n\n"
    yield "Traceback (most recent call last):\n"
    yield from traceback.format_tb(error.__traceback__)
    yield f"{type(error).__module__}.{type(error).__qualname__}: {redact_values(str(error))}\n"
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield indent("".join(_format_chain(inner, seen)), "  | ")
