"""Alerts by mail, Slack and whatever else Apprise knows (MUNIMENT_ALERT_URLS)."""

from apprise import Apprise, NotifyFormat

from muniment.archival.archiver.alerts import Notifier
from muniment.errors import Invalid


class AlertAddressMalformed(Invalid):
    """MUNIMENT_ALERT_URLS names an address that Apprise does not know; see https://github.com/caronc/apprise"""


class AppriseNotifier(Notifier):
    def __init__(self, urls: str) -> None:
        self._apprise = Apprise()
        for url in urls.replace(",", " ").split():
            if not self._apprise.add(url):
                raise AlertAddressMalformed  # without the address: it may hold a password

    async def send(self, title: str, body: str) -> bool:
        if not len(self._apprise):
            return True
        return bool(await self._apprise.async_notify(body=body, title=title, body_format=NotifyFormat.TEXT))
