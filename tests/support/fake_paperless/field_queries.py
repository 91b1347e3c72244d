"""`custom_field_query`: a small query language in JSON."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from tests.support.fake_paperless.call import Call, Refusal, refuse
from tests.support.fake_paperless.state import Document

_OPERATORS: Mapping[str, Callable[[bool, Any, Any], bool]] = {
    "exact": lambda has, value, wanted: has and value == wanted,
    "in": lambda has, value, wanted: has and value in wanted,
    "isnull": lambda has, value, wanted: has and (value is None) == wanted,
    "exists": lambda has, value, wanted: has == wanted,
    "icontains": lambda has, value, wanted: has and str(wanted).lower() in str(value).lower(),
}


def field_query(call: Call, text: str) -> Callable[[Document], bool]:
    try:
        expression = json.loads(text)
    except ValueError:
        raise _refuse(["Value must be valid JSON."]) from None
    return _test(call, expression)


def _test(call: Call, expression: Any) -> Callable[[Document], bool]:
    if isinstance(expression, list) and len(expression) == 2 and expression[0] in ("AND", "OR"):
        tests = [_test(call, part) for part in expression[1]]
        join = all if expression[0] == "AND" else any
        return lambda document: join(test(document) for test in tests)
    if not isinstance(expression, list) or len(expression) != 3:
        raise _refuse(["Invalid custom field query expression"])
    name, operator, wanted = expression
    field = _field(call, name)
    if operator not in _OPERATORS:
        raise _refuse({"1": [f"string does not support query expr '{operator}'."]})
    decide = _OPERATORS[operator]
    return lambda document: decide(field in document.custom_fields, document.custom_fields.get(field), wanted)


def _field(call: Call, name: Any) -> int:
    for field in call.state.of_kind("custom_fields").values():
        if name in (field.id, field.name):
            return field.id
    raise _refuse({"0": [f"'{name}' is not a valid custom field."]})


def _refuse(problem: Any) -> Refusal:
    return refuse(400, {"custom_field_query": problem})
