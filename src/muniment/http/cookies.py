from datetime import datetime
from typing import cast

from fastapi import Request, Response

from muniment.http.parts import Parts

COOKIE = "muniment_session"
# The prefix makes browsers insist on Secure, Path=/ and no Domain; without https they would refuse the cookie.
SECURE_COOKIE = f"__Host-{COOKIE}"


def session_secret(request: Request) -> str | None:
    # With https only the prefixed one counts: a neighbouring subdomain can plant the other in somebody's browser.
    secure = cast("Parts", request.app.state.parts).secure_cookies
    return request.cookies.get(SECURE_COOKIE if secure else COOKIE)


def set_session(response: Response, secret: str, *, expires_at: datetime, secure: bool) -> None:
    response.set_cookie(
        SECURE_COOKIE if secure else COOKIE,
        secret,
        expires=expires_at,
        path="/",
        secure=secure,
        httponly=True,
        samesite="lax",
    )


def clear_session(response: Response, *, secure: bool) -> None:
    response.delete_cookie(SECURE_COOKIE if secure else COOKIE, path="/", secure=secure, httponly=True, samesite="lax")
