"""Helpers of long-running processes: garbage collection and a readiness probe of our own API."""

import gc
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

from muniment.settings import Settings


def freeze_loaded_objects() -> None:
    """What was loaded stays for good: from here on the collector leaves it alone.

    Hundreds of thousands of objects (routes, tables, models) would be looked at again in every full collection, and
    whoever asks in that moment waits for it.
    """
    gc.collect()
    gc.freeze()


# Asked directly: a proxy of the environment has no business between us and ourselves.
_direct = build_opener(ProxyHandler({}))


def responds_ok(settings: Settings, path: str) -> bool:
    try:
        with _direct.open(settings.listening_url + path, timeout=5) as answer:
            return bool(answer.status == 200)
    except (URLError, OSError):
        return False
