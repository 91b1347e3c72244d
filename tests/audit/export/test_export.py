"""An export proves itself, whatever was left out of it (docs/design.md#audit-exports)."""

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

import httpx
import pytest

from muniment.audit.export.file_check import FileVerdict, NotAnExport, verify_file
from muniment.audit.signing import Signer
from tests.support.live_api import RunningApi
from tests.support.seed import SIGNING_KEY, Person, Seed

EXPORT = "/api/v1/audit/export"
Lines = list[dict[str, Any]]


async def events_of(api: RunningApi, person: Person, number: int) -> list[UUID]:
    """Create this number of events, one knowledge base each."""
    async with api.client(person) as client:
        made = [await client.post("/api/v1/knowledge-bases", json={"name": f"Saker {n}"}) for n in range(number)]
    return [UUID(answer.json()["id"]) for answer in made]


async def exported(api: RunningApi, person: Person, **filters: Any) -> bytes:
    async with api.client(person) as client:
        answer = await client.get(EXPORT, params=filters)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/jsonl"
    assert "attachment" in answer.headers["content-disposition"]
    return answer.content


def parsed(file: bytes) -> Lines:
    return [json.loads(line) for line in file.splitlines()]


def check(file: bytes, **options: Any) -> FileVerdict:
    return verify_file(file.splitlines(keepends=True), **options)


def kinds(file: bytes) -> list[str]:
    return [line["kind"] for line in parsed(file)]


def sentences(lines: Lines) -> list[str]:
    file = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    return [problem.sentence for problem in check(file).problems]


async def test_an_admin_gets_every_event_and_the_file_is_in_order(api: RunningApi, seed: Seed) -> None:
    admin = seed.person(is_admin=True)
    await events_of(api, admin, 3)
    file = await exported(api, admin)
    assert kinds(file) == ["header", "event", "event", "event", "head", "end"]
    verdict = check(file)
    assert verdict.problems == []
    assert (verdict.events, verdict.stubs, verdict.first_seq, verdict.last_seq, verdict.signed_seq) == (3, 0, 1, 3, 3)
    assert (verdict.chain, verdict.key_id) == (admin.organization_id, Signer.from_text(SIGNING_KEY).key_id)


async def test_what_the_filter_leaves_out_is_a_stub_that_says_nothing(api: RunningApi, seed: Seed) -> None:
    admin = seed.person(is_admin=True)
    ids = await events_of(api, admin, 4)
    file = await exported(api, admin, kb_id=str(ids[1]))
    assert kinds(file) == ["header", "event", "stub", "stub", "head", "end"]
    assert set(parsed(file)[2]) == {"kind", "seq", "event_hash", "hash"}
    verdict = check(file)
    assert (verdict.problems, verdict.events, verdict.stubs, verdict.first_seq) == ([], 1, 2, 2)
    assert verdict.filters["kb_id"] == str(ids[1])


async def test_an_owner_gets_their_knowledge_bases_and_stubs_of_the_rest(api: RunningApi, seed: Seed) -> None:
    owner = seed.person()
    colleague = seed.person(owner.organization_id)
    await events_of(api, owner, 1)
    (foreign,) = await events_of(api, colleague, 1)
    await events_of(api, owner, 1)
    file = await exported(api, owner)
    assert kinds(file) == ["header", "event", "stub", "event", "head", "end"]
    assert str(foreign) not in file.decode()
    assert check(file).problems == []


async def test_an_export_in_which_nothing_is_shown_is_in_order(api: RunningApi, seed: Seed) -> None:
    admin = seed.person(is_admin=True)
    await events_of(api, admin, 2)
    file = await exported(api, admin, action="nothing_like_it")
    assert kinds(file) == ["header", "end"]
    assert check(file).problems == []


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
async def test_who_manages_nothing_gets_no_export(api: RunningApi, seed: Seed, kind: str) -> None:
    admin = seed.person(is_admin=True)
    await events_of(api, admin, 1)
    for person in (seed.person(admin.organization_id), seed.person(is_operator=True)):
        async with api.client(person) as client:
            assert (await client.get(EXPORT, params={"format": kind})).status_code == 403


async def test_an_operator_exports_the_installation_and_nobody_else_does(api: RunningApi, seed: Seed) -> None:
    operator, admin = seed.person(is_operator=True), seed.person(is_admin=True)
    seed.execute(
        "INSERT INTO audit_events (id, action, actor, payload) VALUES (gen_random_uuid(), 'test', 'system', '{}')"
    )
    file = await exported(api, operator, installation=True)
    assert kinds(file) == ["header", "event", "head", "end"]
    assert check(file).problems == []
    async with api.client(admin) as client:
        assert (await client.get(EXPORT, params={"installation": True})).status_code == 403


def without(number: int) -> Callable[[Lines], Lines]:
    return lambda lines: lines[:number] + lines[number + 1 :]


def with_changed(number: int, **values: Any) -> Callable[[Lines], Lines]:
    return lambda lines: [*lines[:number], {**lines[number], **values}, *lines[number + 1 :]]


def swapped(lines: Lines) -> Lines:
    return [lines[0], lines[2], lines[1], *lines[3:]]


def as_stub(lines: Lines) -> Lines:
    kept = {name: lines[1][name] for name in ("seq", "event_hash", "hash")}
    return [lines[0], {"kind": "stub", **kept}, *lines[2:]]


FORGERIES: dict[str, tuple[Callable[[Lines], Lines], str]] = {
    "an event's actor": (with_changed(1, actor="nobody"), "event at seq 1 is not what was sealed"),
    "an event's action": (with_changed(1, action="nothing"), "event at seq 1 is not what was sealed"),
    "an event's time": (with_changed(1, at="2020-01-01T00:00:00.000000Z"), "event at seq 1 is not what was sealed"),
    "an event's address": (with_changed(1, address=None), "event at seq 1 is not what was sealed"),
    "an event's payload": (with_changed(1, payload={}), "event at seq 1 is not what was sealed"),
    "an event's salt": (with_changed(1, salt="00"), "event at seq 1 is not what was sealed"),
    "an event's seal": (with_changed(1, sealed_at="x"), "event at seq 1 is not what was sealed"),
    "an event's number": (with_changed(1, seq=7), "missing"),
    "an event's hash": (with_changed(2, hash="00" * 32), "seq 2 does not follow"),
    "something added to an event": (with_changed(1, note="x"), "Line 2 cannot be read"),
    "an event removed": (without(2), "Seq 2 is missing"),
    "the first event removed": (without(1), "Seq 1 is missing"),
    "the head removed, and its event": (
        lambda lines: without(3)(without(3)(lines)),
        "does not match the last line",
    ),
    "two events swapped": (swapped, "missing"),
    "an event made a stub": (as_stub, "does not match the last line"),
    "the head's time": (with_changed(4, at="2020-01-01T00:00:00.000000Z"), "was forged or changed"),
    "the head's hash": (with_changed(4, hash="00" * 32), "was forged or changed"),
    "the end cut off": (lambda lines: lines[:-1], "was truncated"),
    "the end and more cut off": (lambda lines: lines[:3], "was truncated"),
    "the end changed": (with_changed(5, events=2), "was forged or changed"),
    "the filter changed": (with_changed(5, filters={}), "was forged or changed"),
    "a line behind the end": (lambda lines: [*lines, lines[1]], "comes after the end"),
    "the beginning moved": (with_changed(0, first_seq=2), ""),
    "another beginning": (with_changed(0, previous_hash="00" * 32), "start of the chain is wrong"),
    "another chain": (with_changed(0, chain=str(UUID(int=7))), "start of the chain is wrong"),
    "another key": (with_changed(0, public_key="00" * 32), "does not belong to this installation"),
}


async def test_whatever_is_done_to_a_file_is_found(api: RunningApi, seed: Seed) -> None:
    admin = seed.person(is_admin=True)
    await events_of(api, admin, 3)
    lines = parsed(await exported(api, admin))
    assert sentences(lines) == []
    for what, (forge, told) in FORGERIES.items():
        problems = sentences(forge(lines))
        assert problems, what
        assert told in " | ".join(problems), what


async def test_an_export_signed_by_another_key_fails_against_the_right_one(api: RunningApi, seed: Seed) -> None:
    admin = seed.person(is_admin=True)
    await events_of(api, admin, 1)
    file = await exported(api, admin)
    async with api.client(admin) as client:
        shown = (await client.get("/api/v1/audit/key")).json()
    for known in (shown["key_id"], shown["public_key"]):
        assert check(file, trusted_key=known).is_intact
    (problem,) = check(file, trusted_key="0" * 32).problems
    assert "not with the one you trust" in problem.sentence


@pytest.mark.parametrize("line", [b"{}", b"[]", b"rubbish", b'{"kind": "header", "format": "x"}', b"\xff\xfe"])
def test_another_file_is_said_to_be_one(line: bytes) -> None:
    with pytest.raises(NotAnExport):
        check(line + b"\n")
    with pytest.raises(NotAnExport):
        check(b"")


async def test_a_name_that_stands_twice_in_a_line_is_not_read(api: RunningApi, seed: Seed) -> None:
    admin = seed.person(is_admin=True)
    await events_of(api, admin, 1)
    file = await exported(api, admin)
    twice = file.replace(b'"action":"knowledge', b'"action":"nothing","action":"knowledge')
    assert check(twice).problems[0].sentence == "Line 2 cannot be read"


async def csv_of(api: RunningApi, person: Person) -> str:
    async with api.client(person) as client:
        answer: httpx.Response = await client.get(EXPORT, params={"format": "csv"})
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    return answer.text


async def test_csv_has_a_row_for_each_event(api: RunningApi, seed: Seed) -> None:
    admin = seed.person(is_admin=True)
    ids = await events_of(api, admin, 2)
    header, *rows = (await csv_of(api, admin)).splitlines()
    assert header.startswith('"seq","id","at","action","actor"')
    assert [row.split(",")[0] for row in rows] == ['"1"', '"2"']
    assert str(ids[0]) in rows[0]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", " =", "＝"])
async def test_no_cell_of_csv_is_taken_for_a_formula(api: RunningApi, seed: Seed, start: str) -> None:
    admin = seed.person(is_admin=True)
    await events_of(api, admin, 1)
    seed.execute(
        """INSERT INTO audit_events (id, action, actor, organization_id, payload)
           VALUES (gen_random_uuid(), 'test', %s, %s, jsonb_build_object('name', %s::text))""",
        f'{start}HYPERLINK("x")', admin.organization_id, ";=1+1",
    )  # fmt: skip
    row = (await csv_of(api, admin)).splitlines()[2]
    assert f"\"'{start}HYPERLINK" in row
    assert ";" not in row
