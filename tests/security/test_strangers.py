"""Run every query of every repository as callers without access (docs/design.md#i8)."""

import importlib
import inspect
import pkgutil
from contextlib import AbstractAsyncContextManager
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy.exc import DBAPIError, NoResultFound

import muniment
from muniment.accounts.repository import OrganizationRepository
from muniment.errors import Forbidden, NotFound
from muniment.processing.runs.repository import RunSuperseded
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database, Work
from muniment.storage.vectors.intents import IndexUpdatePending
from tests.security.queries import OPEN, QUERIES
from tests.security.world import World, a_world
from tests.support.seed import Seed

REFUSED = {"42501", "23503"}  # no permission, or a foreign key that includes the organization
OWN_ORGANIZATION = {
    "OrganizationRepository.list_",
    "OrganizationRepository.get",
    "HandoverRepository.get_organization_name",
}
COLLEAGUES = {f"UserRepository.{name}" for name in ("get", "list_", "find_active", "emails_of")}
USAGE = {"UsageRepository.find_storage", "UsageRepository.count_queued_runs"}
# What a role allows. It shows names of users and organizations, never of documents.
ALLOWED: dict[str, set[str]] = {
    "stranger": {"OrganizationRepository.list_"},
    # Quotas count the whole organization, whatever the member sees of it; the API shows the numbers to admins only.
    "colleague": OWN_ORGANIZATION | COLLEAGUES | USAGE,
    "operator": OWN_ORGANIZATION
    | COLLEAGUES
    | {"OrganizationRepository.add", "UserRepository.add", "UserRepository.change"}
    | {"SessionRepository.end_all", "TokenRepository.revoke_all"}
    # Statistics of the whole installation, and the usage of each organization.
    | {"StatisticsRepository.count_runs", "ReportRepository.find_latest"}
    | USAGE,
    # The active model is the same for the whole installation; every worker may register its own.
    "service of another organization": OWN_ORGANIZATION
    | {"IndexRepository.register_variant", "IndexRepository.activate"}
    | {"KeyRepository.add_once"},  # the signing key is the same for the whole installation
}
FOR_SERVICE = {"LedgerRepository.claim_due", "LedgerRepository.count_pending", "LedgerRepository.summarize"}
FOR_SERVICE |= {
    "UploadRepository.extend_expiry",
    "UploadRepository.claim_expired",
    "RunRepository.claim",
}
FOR_SERVICE |= {
    "RunRepository.announce_progress",
    "DocumentSearchRepository.list_layouts",
    "RunRepository.record_steps",
    "RunRepository.requeue",
    "LedgerRepository.list_reservations",
    "RunRepository.set_artifact",
    "RunRepository.finish",
    "IntentRepository.claim_due",
    "IntentRepository.count_open",
    "RevisionRepository.clear_snapshot",
    "RevisionRepository.mark_failed",
}
FOR_SERVICE |= {name for name in QUERIES if name.startswith(("SealRepository.", "VerificationRepository."))}
FOR_SERVICE |= {
    f"ReceiptRepository.{name}"
    for name in (
        "list_",
        "claim_due",
        "store_point_counts",
        "store_pending",
        "find_positions",
        "store_signed",
        "count_unsigned",
    )
}
FOR_SERVICE |= {name for name in QUERIES if name.startswith("LedgerRepository.re")}
FOR_SERVICE |= {
    "LedgerRepository.make_due",
    "LedgerRepository.list_reserved",
    "IntentRepository.delete_completed",
}
FOR_SERVICE |= {"HeadRepository.add_once", "KeyRepository.add_once"}
OF_RECONCILIATION = (
    "ObjectReference",
    "IndexState",
    "UnindexedDocument",
    "StalledRun",
    "DocumentWithoutRun",
    "Overdue",
)
FOR_SERVICE |= {name for name in QUERIES if name.startswith(tuple(f"{each}Repository." for each in OF_RECONCILIATION))}
FOR_SERVICE |= {
    name
    for name in QUERIES
    if name.startswith(
        (
            "ArtifactRepository.",
            "ArtifactPartRepository.",
            "IndexRepository.",
            "LexicalFormRepository.",
            "PartialVectorRepository.",
            "VectorRepository.",
            "UnreferencedArtifactRepository.",
        )
    )
}
FOR_SERVICE |= {name for name in QUERIES if name.startswith(("HandoverRepository.", "OrganizationIdsRepository."))}
EVERY_TABLE = """
    SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
       AND relname <> 'procrastinate_workers'
"""

Opened = AbstractAsyncContextManager[Work[Any]]


def repository_methods() -> set[str]:
    """Return the methods of all repository classes in the package, so that a new one without a case is found."""
    found = set()
    for module in pkgutil.walk_packages(muniment.__path__, "muniment."):
        if ".migrations" in module.name or module.name.endswith("__main__"):
            continue
        for name, kind in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if name.endswith("Repository"):
                methods = inspect.getmembers(kind, inspect.isfunction)
                found |= {f"{name}.{method}" for method, _ in methods if not method.startswith("_")}
    return found


def open_as(database: Database, seed: Seed, world: World, who: str) -> Opened:
    if who == "service of another organization":
        return database.service_work(Service(seed.organization()))
    organization_id = world.organization_id if who == "colleague" else seed.organization()
    person = seed.person(organization_id, is_operator=who == "operator")
    seed.execute("DELETE FROM api_tokens WHERE user_id = %s", person.id)  # their own, which they may list
    return database.work(person.principal)


async def result_of(query: str, opened: Opened, world: World, *, keep: bool = True) -> Any:
    """Return the result of the query, or None if it was refused."""
    try:
        async with opened as work:
            result = await QUERIES[query](work.session, world)
            if not keep:
                await work.session.rollback()
            return result
    except (Forbidden, NotFound, RunSuperseded, NoResultFound, IndexUpdatePending):
        return None
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) in REFUSED:
            return None
        raise


def is_nothing(result: Any) -> bool:
    return not any(result) if isinstance(result, tuple) else not result


def contents(seed: Seed) -> dict[str, list[Any]]:
    tables = [name for (name,) in seed.rows(EVERY_TABLE)]
    return {table: sorted(seed.rows(f"SELECT t::text FROM {table} t")) for table in tables}


def test_every_repository_method_has_its_case() -> None:
    assert len(QUERIES) > 30
    assert repository_methods() == set(QUERIES) | set(OPEN)


@pytest.mark.parametrize("who", sorted(ALLOWED))
async def test_no_query_gives_anything_to_whom_it_does_not_concern(database: Database, seed: Seed, who: str) -> None:
    world = a_world(seed)
    for query in QUERIES.keys() - ALLOWED[who]:
        opened = open_as(database, seed, world, who)
        before = contents(seed)
        assert is_nothing(await result_of(query, opened, world)), query
        assert contents(seed) == before, query


async def test_the_same_queries_give_something_to_those_whom_they_concern(database: Database, seed: Seed) -> None:
    world = a_world(seed)
    for query in QUERIES:
        is_for_service = query in FOR_SERVICE
        service, owner = Service(world.organization_id), world.owner.principal
        opened: Opened = database.service_work(service) if is_for_service else database.work(owner)
        result = await result_of(query, opened, world, keep=False)
        assert not is_nothing(result) or returns_nothing(query), query


RETURN_NOTHING = {
    *("add", "change", "close", "delete", "delete_completed", "delete_unarchived", "end", "end_all", "finish", "lock"),
    *(
        "activate",
        "add_missing_diagrams",
        "announce_progress",
        "clear_snapshot",
        "ensure_open",
        "fail_superseded",
        "record_steps",
    ),
    *(
        "register_variant",
        "release_below",
        "release_reservations",
        "remove",
        "requeue",
        "reset_failed",
        "revoke_all",
        "set_artifact",
        "set_role",
    ),
    *("complete", "replace", "set_error"),
    "list_missing",  # the only passage has its vector
    *("store_pending", "store_point_counts", "store_signed", "sync_document_status", "mark_permanently_failed"),
}


def returns_nothing(query: str) -> bool:
    """Return whether this query has no result for anyone; what it changes is compared above."""
    name = query.partition(".")[2]
    return query.startswith("SignInRepository") or name in RETURN_NOTHING or "mark_" in name


async def test_a_stranger_sees_their_own_organization_alone(database: Database, seed: Seed) -> None:
    a_world(seed)
    stranger = seed.person()
    async with database.work(stranger.principal) as work:
        found, total = await OrganizationRepository(work.session).list_(offset=0, limit=100)
    seen: list[UUID] = [organization.id for organization in found]
    assert (seen, total) == ([stranger.organization_id], 1)
