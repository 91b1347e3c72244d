"""Map errors to HTTP statuses in one table, so that the domain needs none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from muniment import errors

STATUS: Mapping[type[errors.MunimentError], int] = {
    errors.NotSignedIn: 401,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    errors.Refused: 400,
    errors.Invalid: 422,
    errors.Conflict: 409,
    errors.TooLarge: 413,
    errors.Unsupported: 415,
    errors.TooSlow: 408,
    errors.TooManyRequests: 429,
    errors.StorageFull: 507,
    errors.Unavailable: 503,
}

UNEXPECTED = {"detail": "Internal server error. See the server log for details"}


def status_of(error: errors.MunimentError) -> int:
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)


def add_error_handlers(app: FastAPI) -> None:
    app.add_exception_handler(errors.MunimentError, _muniment_error)
    app.add_exception_handler(RequestValidationError, _invalid_request)
    app.add_exception_handler(HTTPException, _http_exception)
    app.add_exception_handler(Exception, _unexpected_error)


@dataclass(frozen=True)
class ErrorAnswer:
    """The response to an error."""

    status: int
    body: Mapping[str, Any]
    headers: Mapping[str, str]


def answer_to(error: Exception) -> ErrorAnswer:
    """Return the response to an error. Of an unexpected one, users learn nothing but that it is in the log."""
    if not isinstance(error, errors.MunimentError):
        return ErrorAnswer(500, UNEXPECTED, {})
    headers = dict(error.headers)
    if isinstance(error, errors.TooManyRequests):
        headers["Retry-After"] = str(error.retry_after_seconds)
    if isinstance(error, errors.Unavailable):
        headers.setdefault("Retry-After", "5")
    return ErrorAnswer(status_of(error), _body_of(error), headers)


async def _muniment_error(_: Request, error: Exception) -> JSONResponse:
    answer = answer_to(error)
    return JSONResponse(dict(answer.body), status_code=answer.status, headers=dict(answer.headers))


def _body_of(error: errors.MunimentError) -> dict[str, Any]:
    if error.body is not None:
        return dict(error.body)
    if isinstance(error, errors.Invalid):  # the shape of every other 422
        return {"detail": [{"loc": ["body"], "msg": error.message, "type": error.code}]}
    return {"detail": error.message}


async def _invalid_request(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    # Without `input` and `ctx`, because the input may be a password that must not be returned or logged.
    problems = [{"loc": item["loc"], "msg": item["msg"], "type": item["type"]} for item in _errors_of(error)]
    return JSONResponse({"detail": problems}, status_code=422)


def _errors_of(error: RequestValidationError) -> Sequence[Any]:
    return error.errors()


async def _http_exception(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return JSONResponse({"detail": error.detail}, status_code=error.status_code, headers=error.headers)


async def _unexpected_error(_: Request, __: Exception) -> JSONResponse:
    # The access log has the traceback under the request id; users get only the id.
    return JSONResponse(UNEXPECTED, status_code=500)
