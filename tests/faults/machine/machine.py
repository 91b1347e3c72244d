"""Users make random moves, one after the other. After each step everyone must see what the model predicts."""

from collections.abc import Mapping
from typing import Any

import httpx
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from tests.faults.machine.driver import ModelDriver
from tests.faults.machine.model import (
    ACCESS_LEVELS,
    CONTENTS,
    LOCKED,
    NAMES,
    OURS,
    PEOPLE,
    THEIRS,
    Claim,
    Content,
    Document,
    Expected,
    Model,
)
from tests.faults.machine.observer import ModelObserver
from tests.faults.moves.installation import LateWorker

people = st.sampled_from(["admin", "admin", "admin", *PEOPLE])
"""The admin, who may make every move, is drawn most often."""
kbs = st.sampled_from([OURS, OURS, THEIRS])
names = st.sampled_from(NAMES)
contents = st.sampled_from([*CONTENTS, *LOCKED, *LOCKED])
deaths = st.sampled_from([None, None, None, *range(1, 25, 2)])
"""The effect at which the process crashes during a move, or None."""
is_astray = st.sampled_from([*[False] * 19, True])
"""Whether the request names the wrong knowledge base."""
MOVES = {
    "archive": ("POST", "/archive"),
    "restore": ("POST", "/restore"),
    "cancel": ("POST", "/cancel"),
    "retry": ("POST", "/retry"),
    "revert": ("POST", "/replace/revert"),
    "retry_replacement": ("POST", "/replace/retry"),
    "discard_replacement": ("DELETE", "/replace/failed"),
    "purge": ("DELETE", "/purge"),
    "clear": ("DELETE", "/clear"),
}
MOST_BULK_PURGES = 10
"""Limit per user and minute."""


def documents(*statuses: str) -> st.SearchStrategy[Document]:
    """Draw from all present and past documents, preferring those with one of these statuses."""
    return st.runner().flatmap(lambda machine: st.sampled_from(machine.model.drawn(statuses)))


class Machine(RuleBasedStateMachine):
    def __init__(self, driver: ModelDriver) -> None:
        super().__init__()
        self.driver, self.model = driver, Model()
        self.sight = ModelObserver(driver, self.model)
        self.is_watched = False
        self.claims: list[tuple[Claim, LateWorker]] = []
        self.driver.seed.execute("DELETE FROM request_times")  # the limit is ten a minute, and an example takes seconds
        self.bulk_purges = dict.fromkeys(PEOPLE, 0)
        driver.run(driver.begin())

    @initialize(collides=st.booleans())
    def furnish(self, collides: bool) -> None:
        """Start with one document of each kind."""
        first = self._furnish(OURS, "report.txt", "process")
        archived = self._furnish(OURS, "Straße.txt", "process", "archive")
        self._furnish(OURS, "plan.txt")
        self._furnish(OURS, "Cafe\N{COMBINING ACUTE ACCENT}.txt", "process", "replace", "process")
        self._furnish(OURS, "note.txt", "process", "replace", "cancel")
        self._furnish(THEIRS, "report.txt", "process")
        if collides:
            self._rename(archived, first)
        self.is_watched = True
        self._look(*self.model.documents)

    def _furnish(self, kb: str, name: str, *steps: str) -> Document:
        self._upload("admin", kb, name, CONTENTS[0])
        document = self.model.documents[-1]
        for step in steps:
            if step == "process":
                self._process(document, dies=False)
            elif step == "replace":
                self._replace("admin", document, name, LOCKED[0], kb, None)
            else:
                self._move(step, "admin", document, kb, None)
        return document

    # Moves of users.

    @rule(who=people, kb=kbs, name=names, content=contents, dies_at=deaths)
    def upload(self, who: str, kb: str, name: str, content: Content, dies_at: int | None) -> None:
        self._upload(who, kb, name, content, dies_at)

    @rule(who=people, document=documents("completed"), astray=is_astray, dies_at=deaths)
    def archive(self, who: str, document: Document, astray: bool, dies_at: int | None) -> None:
        self._move("archive", who, document, _kb_of(document, astray), dies_at)

    @rule(who=people, document=documents("archived"), astray=is_astray, dies_at=deaths)
    def restore(self, who: str, document: Document, astray: bool, dies_at: int | None) -> None:
        self._move("restore", who, document, _kb_of(document, astray), dies_at)

    @rule(who=people, document=documents("pending", "processing"), astray=is_astray, dies_at=deaths)
    def cancel(self, who: str, document: Document, astray: bool, dies_at: int | None) -> None:
        self._move("cancel", who, document, _kb_of(document, astray), dies_at)

    @rule(who=people, document=documents("failed", "completed"), astray=is_astray, dies_at=deaths)
    def retry(self, who: str, document: Document, astray: bool, dies_at: int | None) -> None:
        self._move("retry", who, document, _kb_of(document, astray), dies_at)

    @rule(who=people, document=documents("archived"), astray=is_astray, dies_at=deaths)
    def purge(self, who: str, document: Document, astray: bool, dies_at: int | None) -> None:
        self._move("purge", who, document, _kb_of(document, astray), dies_at)

    @rule(who=people, document=documents("failed"), astray=is_astray, dies_at=deaths)
    def clear(self, who: str, document: Document, astray: bool, dies_at: int | None) -> None:
        self._move("clear", who, document, _kb_of(document, astray), dies_at)

    @rule(who=people, document=documents(), name=names, content=contents, astray=is_astray, dies_at=deaths)
    def replace(
        self, who: str, document: Document, name: str, content: Content, astray: bool, dies_at: int | None
    ) -> None:
        self._replace(who, document, name, content, _kb_of(document, astray), dies_at)

    @rule(who=people, document=documents("completed", "archived", "failed"), content=contents)
    def replace_under_its_name(self, who: str, document: Document, content: Content) -> None:
        self._replace(who, document, document.name, content, document.kb, None)

    @rule(who=people, document=documents("failed"), astray=is_astray, dies_at=deaths)
    def revert(self, who: str, document: Document, astray: bool, dies_at: int | None) -> None:
        self._move("revert", who, document, _kb_of(document, astray), dies_at)

    @rule(who=people, document=documents("completed"), astray=is_astray, dies_at=deaths)
    def retry_replacement(self, who: str, document: Document, astray: bool, dies_at: int | None) -> None:
        self._move("retry_replacement", who, document, _kb_of(document, astray), dies_at)

    @rule(who=people, document=documents("completed"), astray=is_astray, dies_at=deaths)
    def discard_replacement(self, who: str, document: Document, astray: bool, dies_at: int | None) -> None:
        self._move("discard_replacement", who, document, _kb_of(document, astray), dies_at)

    @rule(who=people, kb=kbs, several=st.lists(documents("archived"), min_size=1, max_size=4))
    def purge_several(self, who: str, kb: str, several: list[Document]) -> None:
        if self.bulk_purges[who] < MOST_BULK_PURGES and not any(document.is_littered for document in several):
            self.bulk_purges[who] += 1
            self._move_several("purge", who, kb, several)

    @rule(who=people, kb=kbs, several=st.lists(documents("completed"), min_size=1, max_size=4))
    def archive_several(self, who: str, kb: str, several: list[Document]) -> None:
        self._move_several("archive", who, kb, several)

    @rule(who=people, document=documents())
    def try_all_that_is_refused(self, who: str, document: Document) -> None:
        for name, (method, place) in MOVES.items():
            expected: Expected = getattr(self.model, name)(who, document.kb, document)
            if expected.is_refusal:
                path = self.driver.path(document.kb, document.id, place)
                self._carry_out(expected, None, who, method, path)

    # Workers and crashes.

    @precondition(lambda self: self.model.waiting())
    @rule(waiting=st.runner().flatmap(lambda self: st.sampled_from(self.model.waiting())), dies=st.booleans())
    def work_off(self, waiting: Document, dies: bool) -> None:
        self._process(waiting, dies=dies)

    def _process(self, waiting: Document, *, dies: bool) -> None:
        if self.driver.run(self.driver.process(waiting.id, dies=dies)):
            self.model.finish(waiting)
        else:
            self.model.begin(waiting)
        self._look(waiting)

    @precondition(lambda self: self.model.waiting())
    @rule(waiting=st.runner().flatmap(lambda self: st.sampled_from(self.model.waiting())))
    def begin_with(self, waiting: Document) -> None:
        """A worker claims the run and hangs."""
        if not waiting.is_given_up:
            late = self.driver.run(self.driver.take(waiting.id))
            self.claims.append((self.model.begin(waiting), late))
            self._look(waiting)

    @precondition(lambda self: self.claims)
    @rule(begun=st.runner().flatmap(lambda self: st.sampled_from(self.claims)))
    def go_on(self, begun: tuple[Claim, LateWorker]) -> None:
        claim, late = begun
        self.driver.run(self.driver.go_on(late))
        self.model.go_on(claim)
        self._look(claim.document)

    @rule(sweeps=st.booleans(), reconciles=st.booleans())
    def restart(self, sweeps: bool, reconciles: bool) -> None:
        """Restart everything, optionally after so much time that sweeps and reconciliation have run."""
        self.driver.run(self.driver.restart())
        if sweeps or reconciles:
            self.driver.run(self.sight.check_at_rest(reconciles=reconciles))
            self.model.sweep()
        self._look()

    @rule(document=documents("archived"), other=documents("completed"))
    def name_by_hand(self, document: Document, other: Document) -> None:
        """Give an archived document the name of another one without the API, as after restoring a backup."""
        if document.is_there and document.status == "archived" and document.kb == other.kb:
            self._rename(document, other)

    # Execution and comparison of the steps.

    def _rename(self, document: Document, other: Document) -> None:
        self.driver.rename(document.id, other.name)
        document.name = other.name
        self._look(document)

    def _upload(self, who: str, kb: str, name: str, content: Content, dies_at: int | None = None) -> None:
        expected = self.model.upload(who, kb, name, content)
        path, files = self.driver.path(kb), {"file": (name, content.bytes)}
        self._carry_out(expected, dies_at, who, "POST", path, files=files)

    def _move(self, name: str, who: str, document: Document, kb: str, dies_at: int | None) -> None:
        expected: Expected = getattr(self.model, name)(who, kb, document)
        method, place = MOVES[name]
        self._carry_out(expected, dies_at, who, method, self.driver.path(kb, document.id, place))

    def _replace(self, who: str, document: Document, name: str, content: Content, kb: str, dies_at: int | None) -> None:
        expected = self.model.replace(who, kb, document, name, content)
        path, files = self.driver.path(kb, document.id, "/replace"), {"file": (name, content.bytes)}
        document.is_littered |= dies_at is not None
        self._carry_out(expected, dies_at, who, "POST", path, files=files)

    def _move_several(self, name: str, who: str, kb: str, several: list[Document]) -> None:
        expected: Expected = getattr(self.model, f"bulk_{name}")(who, kb, several)
        ids = {"document_ids": [str(document.id) for document in several]}
        self._carry_out(expected, None, who, "POST", f"{self.driver.path(kb)}/bulk-{name}", json=ids)

    def _carry_out(
        self, expected: Expected, dies_at: int | None, who: str, method: str, path: str, **options: Any
    ) -> None:
        answer = self._ask(dies_at, who, method, path, **options)
        if answer is not None:
            body: Mapping[str, Any] | None = _compared(expected, answer)
        else:
            body = self.sight.what_was_committed(expected)
        if expected.effect is None or body is None:
            self.sight.check_rows()
        else:
            known = len(self.model.documents)
            expected.effect(body)
            self._look(*expected.touched, *self.model.documents[known:])

    def _ask(self, dies_at: int | None, who: str, method: str, path: str, **options: Any) -> httpx.Response | None:
        if dies_at is None:
            return self.driver.run(self.driver.ask(who, method, path, **options))
        return self.driver.run(self.driver.ask_and_die(dies_at, who, method, path, **options))

    def _look(self, *touched: Document) -> None:
        if self.is_watched:
            self.driver.run(self.sight.check(touched))


def _kb_of(document: Document, astray: bool) -> str:
    return next(kb for kb in ACCESS_LEVELS if (kb == document.kb) is not astray)


def _compared(expected: Expected, answer: httpx.Response) -> Mapping[str, Any]:
    """Return the body of the response, after checking it against the expectation."""
    body: Mapping[str, Any] = answer.json()
    if expected.may_be_pending and answer.status_code == 202:
        assert body["pending"] == ["blobs"], answer.text
        assert body["receipt_url"] == f"/api/v1/receipts/{body['receipt_id']}", answer.text
        return {}
    assert answer.status_code == expected.status, (expected, answer.status_code, answer.text)
    shown = body if expected.is_refusal else {name: body.get(name) for name in expected.body}
    assert shown == dict(expected.body), (expected, answer.text)
    return body
