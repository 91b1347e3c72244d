"""How long to wait before asking again."""

from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

from muniment.storage.db.base import now


@dataclass(frozen=True)
class Backoff:
    """Twice as long each time, spread by chance so that many who failed together do not come back together."""

    attempts: int = 5
    first_seconds: float = 0.5
    longest_seconds: float = 60

    def wait_seconds(self, attempt: int, retry_after: str | None, chance: float) -> float:
        """Behind the `attempt`-th failure; `chance` lies from 0 to 1. What the server asks for is the least."""
        grown = min(self.first_seconds * 2.0 ** (attempt - 1), self.longest_seconds)
        asked = min(_asked_seconds(retry_after), self.longest_seconds)
        return max(grown * (0.5 + chance / 2), asked)


def _asked_seconds(retry_after: str | None) -> float:
    """Seconds or a date (RFC 9110 §10.2.3); what is neither asks for nothing."""
    if not retry_after:
        return 0
    if retry_after.isascii() and retry_after.isdigit():
        return float(retry_after[:9])
    try:
        until = parsedate_to_datetime(retry_after)
    except ValueError:
        return 0
    aware = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max((aware - now()).total_seconds(), 0)
