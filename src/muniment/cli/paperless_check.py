"""Check of Paperless for `muniment doctor`: address, version, token and permissions of the archiver's user."""

from muniment.archiver import build_paperless
from muniment.errors import Unavailable
from muniment.handover.paperless.errors import PaperlessError
from muniment.settings import Settings


class PaperlessUnusable(Unavailable):
    """Paperless cannot be used"""


async def check_paperless(settings: Settings) -> str:
    """Return the version of Paperless, or raise an error that says in one sentence what is wrong."""
    try:
        async with build_paperless(settings.archiver) as paperless:
            version = await paperless.check_access()
    except PaperlessError as error:
        address = settings.archiver.paperless_url
        raise PaperlessUnusable(f"{address}: {error.message}") from None
    return f"version {version.major}.{version.minor} at {settings.archiver.paperless_url}"
