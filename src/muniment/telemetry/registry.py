"""Where the metrics are kept, and under which prefix they are shown."""

import re
from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Metric

PREFIX = "muniment"
# Prometheus' own rule for names, without the colon, which belongs to recording rules.
PREFIX_PATTERN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class PrefixedRegistry(CollectorRegistry):
    """Knows every metric as `muniment_…` and shows it under the prefix that an installation asked for."""

    shown_prefix = PREFIX

    def collect(self) -> Iterable[Metric]:
        """All of ours renamed; those of the process and of Python keep the names that everybody gives them."""
        for family in super().collect():
            yield self._renamed(family) if family.name.startswith(f"{PREFIX}_") else family

    def _renamed(self, family: Metric) -> Metric:
        if self.shown_prefix == PREFIX:
            return family
        # Made anew for each look, so that changing it changes nothing that is counted.
        family.name = self._shown(family.name)
        family.samples = [sample._replace(name=self._shown(sample.name)) for sample in family.samples]
        return family

    def _shown(self, name: str) -> str:
        return self.shown_prefix + name.removeprefix(PREFIX)
