"""Asking our own API whether it answers."""

from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

from muniment.settings import Settings

# Asked directly: a proxy of the environment has no business between us and ourselves.
_direct = build_opener(ProxyHandler({}))


def answers(settings: Settings, path: str) -> bool:
    try:
        with _direct.open(settings.listening_url + path, timeout=5) as answer:
            return bool(answer.status == 200)
    except (URLError, OSError):
        return False
