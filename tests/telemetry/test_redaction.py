from typing import Any
from uuid import UUID

import pytest
from psycopg.errors import NotNullViolation, UniqueViolation
from pydantic import BaseModel, ValidationError
from sqlalchemy.exc import IntegrityError

from muniment.telemetry.redaction import redact_event


def masked(**fields: Any) -> dict[str, Any]:
    return redact_event(None, "info", fields)


@pytest.mark.parametrize(
    "key", ["password", "new_Password", "token", "client_secret", "Authorization", "set-cookie", "x-api-key", "apikey"]
)
def test_a_key_that_looks_secret_hides_its_value(key: str) -> None:
    assert masked(**{key: "hunter2"}) == {key: "***"}
    assert masked(outer={"inner": [{key: "hunter2"}]}) == {"outer": {"inner": [{key: "***"}]}}


@pytest.mark.parametrize("key", ["text", "content", "snippet", "query", "body"])
def test_keys_of_document_text_hide_it(key: str) -> None:
    assert masked(**{key: "Dear Sir"}) == {key: "***"}


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("postgresql+psycopg://app:p@ss:w?rd@db:5432/x", "postgresql+psycopg://app:***@db:5432/x"),
        ("redis://:hunter2@cache", "redis://:***@cache"),
        ("http://localhost:8400/users/a@example.org", "http://localhost:8400/users/a@example.org"),
        ("host=db user=app password=hunter2 dbname=x", "host=db user=app password=*** dbname=x"),
        (r"host=db password='hun\'ter 2' dbname=x", "host=db password=*** dbname=x"),
        ('{"api_key": "hunter2", "n": 1}', '{"api_key": ***, "n": 1}'),
        ("sent Bearer abc.def-ghi to it", "sent Bearer *** to it"),
        ("Cookie: session=abc; other=def", "Cookie: ***"),
        ("GET /reset?token=abc&x=1", "GET /reset?token=***&x=1"),
    ],
)
def test_secrets_are_cut_out_of_any_string(said: str, kept: str) -> None:
    assert masked(event=said) == {"event": kept}


def test_bytes_are_counted_and_other_values_are_written_as_people_write_them() -> None:
    document_id = UUID("01890a5d-ac96-774b-bcce-b302099a8057")

    assert masked(data=b"%PDF", document=document_id, n=1, ratio=0.5, done=True, none=None, tags={"a"}) == {
        "data": "(4 bytes)",
        "document": str(document_id),
        "n": 1,
        "ratio": 0.5,
        "done": True,
        "none": None,
        "tags": ["a"],
    }


def test_control_characters_cannot_reach_a_terminal() -> None:
    assert masked(path="/a\x1b[31m\r\x9bb") == {"path": r"/a\x1b[31m\r\x9bb"}


class Answer(BaseModel):
    page: int


def a_validation_error() -> ValidationError:
    with pytest.raises(ValidationError) as caught:
        Answer.model_validate({"page": "Dear Sir, input_type="})
    return caught.value


UNIQUE = (
    'duplicate key value violates unique constraint "x"\nDETAIL:  Key (name)=(Dear Sir\nHINT: Dear Sir) already exists.'
)


@pytest.mark.parametrize(
    "error",
    [
        UniqueViolation(UNIQUE),
        IntegrityError(
            "INSERT INTO x VALUES (%s)", {"name": "Dear Sir"}, UniqueViolation(UNIQUE), hide_parameters=True
        ),
        IntegrityError("INSERT INTO x VALUES (%s)", {"name": "Dear Sir"}, UniqueViolation("duplicate key")),
        NotNullViolation('null value in column "id"\nDETAIL:  Failing row contains (null, Dear Sir).'),
        UniqueViolation('bad copy\nCONTEXT:  COPY x, line 1, column name: "Dear Sir"'),
        ValueError('invalid input syntax for type uuid: "Dear\nSir"'),
        ValueError('syntax error in tsquery: "Dear Sir"'),
        ValueError('value "Dear Sir" is out of range for type smallint'),
        a_validation_error(),
        ValueError("1 validation error:\n  {'type': 'missing', 'loc': ('response',), 'input': {'name': 'Dear Sir'}}"),
    ],
)
def test_values_that_an_error_quotes_are_left_out(error: Exception) -> None:
    told = masked(error=error)["error"]

    assert "Dear" not in told
    assert "Sir" not in told
    assert told.split()[0] == str(error).split()[0]
