"""Counters that say in which knowledge base and by whom, as long as an installation wants that and can bear it."""

from uuid import UUID

from prometheus_client import CollectorRegistry, Counter

TENANT_LABELS = ("kb_id", "user_id")
OTHER = "other"
MAX_TENANTS = 2_000
"""Pairs of knowledge base and person that one counter tells apart. Whoever may make knowledge bases could otherwise
make series without end; later pairs are counted together as `other`."""


class TenantCounter:
    """A counter by knowledge base and person, and by `labels` that are true or false."""

    def __init__(self, name: str, documentation: str, labels: tuple[str, ...] = (), *, registry: CollectorRegistry):
        self._name, self._documentation, self._labels, self._registry = name, documentation, labels, registry
        self._tenants: set[tuple[str, str]] = set()
        self._counter = self._make(has_tenants=True)

    def inc(self, kb_id: UUID, user_id: UUID | None, **labels: bool) -> None:
        """One more. Labels that are left out are `false`; nobody in particular is `system`."""
        if unknown := set(labels) - set(self._labels):
            raise ValueError(f"{self._name} has no label {', '.join(sorted(unknown))}")
        values = [str(labels.get(label, False)).lower() for label in self._labels]
        chosen = [*self._tenant(str(kb_id), str(user_id or "system")), *values]
        (self._counter.labels(*chosen) if chosen else self._counter).inc()

    def show_tenants(self, *, shown: bool) -> None:
        """Begin anew with or without the labels `kb_id` and `user_id`: a process decides this once, at its start."""
        self._registry.unregister(self._counter)
        self._tenants.clear()
        self._counter = self._make(has_tenants=shown)

    def _make(self, *, has_tenants: bool) -> Counter:
        self._has_tenants = has_tenants
        labels = [*(TENANT_LABELS if has_tenants else ()), *self._labels]
        return Counter(self._name, self._documentation, labels, registry=self._registry)

    def _tenant(self, kb_id: str, user_id: str) -> tuple[str, ...]:
        if not self._has_tenants:
            return ()
        tenant = (kb_id, user_id)
        if tenant not in self._tenants and len(self._tenants) >= MAX_TENANTS:
            return (OTHER, OTHER)
        self._tenants.add(tenant)
        return tenant
