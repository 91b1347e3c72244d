"""Authentication and negotiation of the API version, before anything else."""

import re

from tests.support.fake_paperless.call import Refusal, refuse
from tests.support.fake_paperless.state import State
from tests.support.fake_paperless.users import User
from tests.support.fake_paperless.wire import Request, Response

_OLDEST_API = {2: 1, 3: 9}


def interface_version(state: State, request: Request) -> int:
    """Return the requested version, or the newest one; 406 if the server does not support it."""
    accepted = request.headers.get("accept", "*/*")
    if accepted.startswith("application/xml"):
        raise refuse(406, {"detail": "Could not satisfy the request Accept header."})
    newest = state.switches.newest_api
    asked = re.search(r";\s*version=([^;,\s]*)", accepted)
    if asked is None:
        return newest
    if asked[1].isdecimal() and _OLDEST_API[state.switches.flavour] <= int(asked[1]) <= newest:
        return int(asked[1])
    raise refuse(406, {"detail": 'Invalid version in "Accept" header.'})


def user_of(state: State, request: Request) -> User:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "token":
        raise _unknown("Authentication credentials were not provided.")
    if not token.strip():
        raise _unknown("Invalid token header. No credentials provided.")
    for user in state.users:
        if user.token == token.strip():
            return user
    raise _unknown("Invalid token.")


def _unknown(detail: str) -> Refusal:
    return Refusal(Response.of_json({"detail": detail}, 401, **{"WWW-Authenticate": "Token"}))
