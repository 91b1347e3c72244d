"""Make an installation with the code as it is, and save it as the fixture of its version. See README.md.

python -m tests.upgrade.make_fixture [NAME]
"""

import hashlib
import lzma
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import psutil
import psycopg

from muniment import __version__
from muniment.bootstrap.processing import build_reader_options
from muniment.processing.readers.fingerprint import reading_parameters
from muniment.processing.readers.ocr.engine import find_engine
from muniment.settings import Settings
from tests.documents.uploads import a_pdf
from tests.processing.readers.office_files import a_docx, w
from tests.processing.sandboxed_worker_fixture import is_server
from tests.support.fake_paperless.fake import FakePaperless, fake_paperless
from tests.support.fake_paperless.faults import refused
from tests.support.folders import shared_folder
from tests.support.running_server import EMAIL, PASSWORD, RunningServer, wait_until
from tests.upgrade import backup, contents
from tests.upgrade.facts import AUDIT_EXPORT, Account, Annotation, Facts, FailedReplacement, SavedDocument

SINGLE_SLOT = {"MUNIMENT_WORKER_CONCURRENCY": "1"}
PARTIAL_PAGES_SECONDS = 6
"""After this time, the next page that is read stores those before it."""
COMPLETED = (
    ("lease.pdf", contents.lease(), "armadillo", "when does the rent have to be paid"),
    ("minutes.docx", contents.minutes(), "Halvorsen", "person responsible for the finances of the association"),
    ("insurance.odt", contents.insurance(), "greenhouse", "insurance against damage by storms"),
    ("boiler.txt", contents.boiler(), "thermostat", "repair of the heating system"),
    ("journeys.html", contents.journeys(), "Trondheim", "reimbursement of train fares"),
    ("fire drill.md", contents.fire_drill(), "linden", "what to do when the house is on fire"),
    ("parcel.eml", contents.parcel(), "microscope", "when will my package arrive"),
    ("elevator.rtf", contents.elevator(), "inspector", "safety check of the lift"),
    ("scan.png", contents.scan(), "veterinarian", "immunization of a pet"),
)

TUNING = b"The pianoforte is tuned twice a year."


@dataclass(frozen=True)
class KnowledgeBaseClient:
    """A client that is signed in, with its knowledge base."""

    client: httpx.Client
    kb_id: str

    def path(self, document_id: str = "") -> str:
        return f"/api/v1/knowledge-bases/{self.kb_id}/documents/{document_id}".rstrip("/")

    def upload(self, name: str, content: bytes, words: str = "", question: str = "") -> SavedDocument:
        made = sent(self.client.post(self.path(), files={"file": (name, content)}))
        sha256 = hashlib.sha256(content).hexdigest()
        return SavedDocument(
            id=made["id"], kb_id=self.kb_id, name=name, sha256=sha256, words=words, question=question or words
        )

    def upload_and_wait(self, name: str, content: bytes, words: str = "", question: str = "") -> SavedDocument:
        document = self.upload(name, content, words, question)
        self.wait_for(document, "completed")
        return document

    def wait_for(self, document: SavedDocument, status: str) -> None:
        wait_until(lambda: self.look(document)["status"] == status)

    def look(self, document: SavedDocument) -> Any:
        return sent(self.client.get(self.path(document.id)))

    def move(self, document: SavedDocument, move: str) -> Any:
        return sent(self.client.post(f"{self.path(document.id)}/{move}"))

    def replace(self, document: SavedDocument, content: bytes) -> Any:
        return sent(self.client.post(f"{self.path(document.id)}/replace", files={"file": (document.name, content)}))

    def remove(self, document: SavedDocument, move: str) -> Any:
        """Return the receipt of a purge or clear."""
        receipt_id = sent(self.client.delete(f"{self.path(document.id)}/{move}"))["receipt_id"]
        return sent(self.client.get(f"/api/v1/receipts/{receipt_id}"))


def main() -> None:
    target = Path(__file__).parent / (sys.argv[1] if len(sys.argv) > 1 else __version__)
    target.mkdir()  # fails if it exists: a fixture is never recreated
    with shared_folder() as folder:
        builder = FixtureBuilder(folder)
        facts = builder.run(target.name)
        backup.save(folder / "data", target)
        facts.save(target)
        (target / AUDIT_EXPORT).write_bytes(lzma.compress(builder.audit_export))


class FixtureBuilder:
    """Every step goes through the API, except for a power failure at the end."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, Any] = {}
        self.audit_export = b""

    def run(self, name: str) -> Facts:
        with fake_paperless(self._folder) as paperless, self._serving(**_archiver(paperless)) as installation:
            self._accounts(installation)
            with self._knowledge_bases(installation) as (kb, other_kb):
                self._documents(kb, other_kb)
                self._failed_replacement(kb)
                self._removals(kb)
                self._rotated_key(kb, installation)
                self._refused_once(kb, paperless)
                self._delivered(kb, paperless)
            assert installation.stop() == 0
        with self._serving() as installation, self._knowledge_bases(installation) as (kb, other_kb):
            self._queued(kb)
            self._sign_heads(kb, other_kb)
            self._interrupted(kb, other_kb, installation)
            installation.kill_everybody()
        return Facts(version=name, reading=_reading(), **self._known)

    @contextmanager
    def _serving(self, **environment: str) -> Iterator[RunningServer]:
        with RunningServer(self._folder, **SINGLE_SLOT, **environment) as installation:
            yield installation.start()

    @contextmanager
    def _knowledge_bases(
        self, installation: RunningServer
    ) -> Iterator[tuple[KnowledgeBaseClient, KnowledgeBaseClient]]:
        """Yield the knowledge bases of the two organizations' admins."""
        with ExitStack() as opened:
            clients = [
                opened.enter_context(signed_in(installation.url, self._known[name]))
                for name in ("operator", "stranger")
            ]
            first, second = (KnowledgeBaseClient(client, sent(client.get(KBS))["items"][0]["id"]) for client in clients)
            yield first, second

    def _accounts(self, installation: RunningServer) -> None:
        with installation.client() as client:
            own = sent(client.get("/api/v1/auth/me"))["organization_id"]
            other = sent(client.post("/api/v1/organizations", json={"name": "Second organization"}))["id"]
            self._known["operator"] = Account(email=EMAIL, password=PASSWORD, organization_id=own)
            kb_id = sent(client.post(KBS, json={"name": "Contracts"}))["id"]
            for name in ("editor", "viewer"):
                account, user_id = self._account(client, name, own)
                sent(client.put(f"{KBS}/{kb_id}/members/{user_id}", json={"role": name}))
                self._known[name] = account
            self._known["stranger"], _ = self._account(client, "stranger", other, is_admin=True)
        with signed_in(installation.url, self._known["stranger"]) as client:
            sent(client.post(KBS, json={"name": "Foreign contracts"}))
        with signed_in(installation.url, self._known["editor"]) as client:
            wanted = {"name": "upgrade test", "expires_in_days": 3650}
            self._known["editor_token"] = sent(client.post("/api/v1/auth/tokens", json=wanted))["token"]

    def _account(self, client: httpx.Client, name: str, organization_id: str, **rights: bool) -> tuple[Account, str]:
        account = Account(
            email=f"{name}@example.org", password=f"password of the {name}", organization_id=organization_id
        )
        made = sent(client.post("/api/v1/users", json={**account.model_dump(), **rights}))
        return account, made["id"]

    def _documents(self, kb: KnowledgeBaseClient, other_kb: KnowledgeBaseClient) -> None:
        self._known["completed"] = completed = tuple(kb.upload_and_wait(*wanted) for wanted in COMPLETED)
        self._known["foreign"] = other_kb.upload_and_wait(*COMPLETED[0])
        self._known["annotation"] = _annotate(kb, completed[0])
        for name, words in (("archived_to_purge", "daguerreotype"), ("archived_to_restore", "harpsichord")):
            self._known[name] = document = kb.upload_and_wait(f"{words}.pdf", a_pdf(f"The price of a {words}"), words)
            kb.move(document, "archive")
        self._known["failed"] = failed = kb.upload("broken.pdf", contents.broken())
        kb.wait_for(failed, "failed")
        self._known["replaced"] = kb.upload_and_wait("handbook.txt", b"How to clean the typewriter.", "typewriter")
        for each in (kb, other_kb):  # hidden from the search for its words, which finds a copy
            each.move(each.upload_and_wait("piano.txt", TUNING), "archive")

    def _failed_replacement(self, kb: KnowledgeBaseClient) -> None:
        content = a_pdf("The assembly has a quorum with one half of its members")
        document = kb.upload_and_wait("statutes.pdf", content, "quorum")
        kb.replace(document, contents.broken() + b"A third one.")
        wait_until(lambda: kb.look(document)["failed_replacement"] is not None)
        offered = kb.look(document)["failed_replacement"]
        self._known["failed_replacement"] = FailedReplacement(document=document, offered=offered)

    def _removals(self, kb: KnowledgeBaseClient) -> None:
        purged = kb.upload_and_wait("purged.pdf", a_pdf("A letter that has to be deleted"))
        kb.move(purged, "archive")
        cleared = kb.upload("cleared.pdf", contents.broken() + b"Another one.")
        kb.wait_for(cleared, "failed")
        self._known["receipts"] = (kb.remove(purged, "purge"), kb.remove(cleared, "clear"))
        self._known["public_key"] = sent(kb.client.get("/api/v1/audit/key"))["public_key"]

    def _rotated_key(self, kb: KnowledgeBaseClient, installation: RunningServer) -> None:
        """Sign heads with the first key, and what follows with another one."""
        assert kb.client.get("/api/v1/audit/export").is_success
        self._known["earlier_public_key"] = self._known["public_key"]
        rotation = installation.run("audit", "rotate-key")
        assert rotation.returncode == 0, rotation.stderr
        self._known["public_key"] = sent(kb.client.get("/api/v1/audit/key"))["public_key"]

    def _refused_once(self, kb: KnowledgeBaseClient, paperless: FakePaperless) -> None:
        """Hand one document over that Paperless accepts only the second time."""
        document = kb.upload_and_wait("invoice 5.pdf", a_pdf("Invoice 5"))
        paperless.fault("upload", refused(415))
        job_id = kb.move(document, "hand-over")["job_id"]
        wait_until(lambda: kb.look(document)["archive_status"] == "failed")
        sent(kb.client.post(f"/api/v1/archive/dead-letters/{job_id}/requeue"))
        wait_until(lambda: kb.look(document)["archive_status"] == "archived")
        organization_id = self._known["operator"].organization_id
        path = f"/api/v1/organizations/{organization_id}/archive/{document.id}"
        self._known["handover"] = sent(kb.client.get(path))

    def _delivered(self, kb: KnowledgeBaseClient, paperless: FakePaperless) -> None:
        """Hand one document over, and one file that Paperless refuses."""
        self._known["handed_over"] = document = kb.upload_and_wait("invoice 1.pdf", a_pdf("Invoice 1"))
        kb.move(document, "hand-over")
        wait_until(lambda: kb.look(document)["archive_status"] == "archived")
        paperless.fault("upload", refused(415))
        self._known["dead_letter"] = self._hand_over(kb, a_pdf("Invoice 2, which was refused"))
        wait_until(lambda: sent(kb.client.get("/api/v1/archive/dead-letters"))["total"] == 1)

    def _queued(self, kb: KnowledgeBaseClient) -> None:
        """Queue two jobs, of a document and of another application."""
        document = kb.upload_and_wait("invoice 3.pdf", a_pdf("Invoice 3"))
        own = kb.move(document, "hand-over")["job_id"]
        self._known["queued_jobs"] = (own, self._hand_over(kb, a_pdf("Invoice 4, of another application")))

    def _hand_over(self, kb: KnowledgeBaseClient, content: bytes) -> str:
        organization_id = self._known["operator"].organization_id
        answer = kb.client.post(
            f"/api/v1/organizations/{organization_id}/archive",
            files={"file": ("invoice.pdf", content)},
            data={"document_type": "invoice", "document_id": str(uuid4())},
        )
        return str(sent(answer)["job_id"])

    def _sign_heads(self, kb: KnowledgeBaseClient, other_kb: KnowledgeBaseClient) -> None:
        """Seal and sign all events with an export."""
        self._known["signed_seq"] = signed = {}
        for client in (other_kb.client, kb.client):
            export = client.get("/api/v1/audit/export")
            assert export.is_success
            self.audit_export = export.content
            verdict = sent(client.get("/api/v1/audit/verify"))
            assert verdict["is_intact"], verdict
            assert verdict["signed_seq"] > 0, verdict
            signed[verdict["chain"]] = verdict["signed_seq"]

    def _interrupted(self, kb: KnowledgeBaseClient, other_kb: KnowledgeBaseClient, installation: RunningServer) -> None:
        """Leave a worker in the middle of a document, with others waiting."""
        worker = installation.child(r"muniment worker$")
        self._interrupt_reading(kb, installation, worker)
        lessons = a_docx(w("Lessons for the accordion take place on Tuesdays."))
        light = b"The electrician hangs the chandelier in the hall."
        first = [
            each.upload("lessons.docx", lessons, "accordion", "music teaching schedule") for each in (kb, other_kb)
        ]
        wait_until(lambda: all(_queue_of(installation, document) == "reading" for document in first))
        worker.suspend()
        pending = [
            (
                document,
                each.upload("hall.txt", light, "chandelier", "electrical work on the ceiling light"),
                each.upload("copy.txt", TUNING, "pianoforte"),
            )
            for document, each in zip(first, (kb, other_kb), strict=True)
        ]
        self._known["pending"], self._known["foreign_pending"] = pending
        for documents in pending:
            assert {_queue_of(installation, document) for document in documents} == {"fast", "reading"}
        self._known["words_before_replacement"] = "typewriter"
        self._known["replaced"] = self._replace(kb, self._known["replaced"])

    def _interrupt_reading(self, kb: KnowledgeBaseClient, installation: RunningServer, worker: psutil.Process) -> None:
        """Stop the reader of a long scan after some of its pages were stored, in two parts."""
        [server] = [process for process in worker.children() if is_server(process)]
        scan = contents.voyage()
        self._known["processing"] = document = kb.upload("voyage.pdf", scan, "albatross", "travelling by sea")
        wait_until(lambda: _pages_read(installation, document) >= 2)
        [reader] = server.children()
        self._store_pages(reader, parts=1)
        self._store_pages(reader, parts=2)
        reader.suspend()
        server.suspend()
        self._known["partial_pages"] = tuple(self._list_partial_pages())
        assert kb.look(document)["status"] == "processing"

    def _store_pages(self, reader: psutil.Process, *, parts: int) -> None:
        """Interrupt the reader for so long that its next page is stored, with those before it."""
        reader.suspend()
        time.sleep(PARTIAL_PAGES_SECONDS)
        reader.resume()
        wait_until(lambda: len(self._list_partial_pages()) == parts)

    def _list_partial_pages(self) -> list[str]:
        objects = self._folder / "data" / "blobs"
        return sorted(str(path.relative_to(objects)) for path in objects.glob("artifacts/*/partial/*/*/*"))

    def _replace(self, kb: KnowledgeBaseClient, document: SavedDocument) -> SavedDocument:
        content = b"How to record a picture by holography."
        assert kb.replace(document, content)["status"] == "pending"
        sha256 = hashlib.sha256(content).hexdigest()
        return document.model_copy(
            update={"words": "holography", "question": "taking three-dimensional photographs", "sha256": sha256}
        )


KBS = "/api/v1/knowledge-bases"


def sent(answer: httpx.Response) -> Any:
    assert answer.is_success, answer.text
    return answer.json() if answer.content else None


@contextmanager
def signed_in(url: str, account: Account) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=url, timeout=30, trust_env=False) as client:
        sent(client.post("/api/v1/auth/login", json={"email": account.email, "password": account.password}))
        yield client


def _annotate(kb: KnowledgeBaseClient, document: SavedDocument) -> Annotation:
    paragraph = sent(kb.client.get(f"{kb.path(document.id)}/paragraphs", params={"page_number": 2}))["items"][0]
    annotations = {"note": "Ask the landlord about cats", "tags": ["animals"]}
    place = f"{kb.path(document.id)}/pages/2"
    sent(kb.client.patch(f"{place}/paragraphs/0", json={"annotations": annotations}))
    sent(kb.client.patch(place, json={"flags": {"reviewed": True}}))
    return Annotation(
        document_id=document.id,
        kb_id=document.kb_id,
        page=2,
        paragraph=0,
        text=paragraph["text"],
        annotations=annotations,
    )


def _archiver(paperless: FakePaperless) -> dict[str, str]:
    return {
        "PAPERLESS_URL": paperless.url,
        "PAPERLESS_API_TOKEN": paperless.token,
        "MUNIMENT_ARCHIVER_INTERVAL": "1s",
    }


def _queue_of(installation: RunningServer, document: SavedDocument) -> str:
    queue = _value_of_run(installation, document, "SELECT queue_name FROM procrastinate_jobs WHERE id = run.job_id")
    return str(queue)


def _pages_read(installation: RunningServer, document: SavedDocument) -> int:
    page = "SELECT max((state_snapshot->>'page')::int) FROM document_processing_steps s WHERE s.run_id = run.run_id"
    return int(_value_of_run(installation, document, page) or 0)


def _value_of_run(installation: RunningServer, document: SavedDocument, query: str) -> Any:
    statement = f"SELECT ({query}) FROM document_processing_runs run WHERE document_id = %s"
    with psycopg.connect(backup.superuser(installation.data_dir).conninfo) as connection:
        row = connection.execute(statement.encode(), [document.id]).fetchone()
    assert row is not None
    return row[0]


def _reading() -> dict[str, Any]:
    return reading_parameters(build_reader_options(Settings()), find_engine())


if __name__ == "__main__":
    main()
