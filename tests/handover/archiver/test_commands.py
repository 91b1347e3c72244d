"""`muniment archiver …` in its own process, without a database."""

import asyncio
import json
from datetime import timedelta
from typing import Any

import pytest

from muniment.handover.archiver.pass_context import PassOutcome
from tests.handover.archiver.environment import ArchiverEnvironment
from tests.handover.handover_api import INTERNAL_KEY
from tests.support.commands import run_command
from tests.support.fake_paperless.faults import refused
from tests.support.fake_paperless.users import WITHOUT_TASKS

pytestmark = pytest.mark.slow


async def muniment(archiver_env: ArchiverEnvironment, *words: str, **environment: str) -> tuple[int, str, str]:
    """Return exit code, output and log of one command."""
    given = {
        "MUNIMENT_DATA_DIR": str(archiver_env.office.api.settings.server.data_dir),
        "PAPERLESS_URL": archiver_env.server.url,
        "PAPERLESS_API_TOKEN": archiver_env.server.token,
        "MUNIMENT_INTERNAL_API_URL": archiver_env.office.api.url,
        "INTERNAL_API_KEY": INTERNAL_KEY,
        **environment,
    }
    folder = archiver_env.office.api.settings.server.data_dir
    result = await asyncio.to_thread(run_command, folder, "archiver", *words, **given)
    return result.returncode, result.stdout, result.stderr


async def facts(archiver_env: ArchiverEnvironment, *words: str) -> Any:
    code, said, logged = await muniment(archiver_env, *words, "--json")
    assert code == 0, logged
    return json.loads(said)


def json_lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


async def test_run_makes_one_pass_and_leaves_its_metrics_in_a_file(archiver_env_v3: ArchiverEnvironment) -> None:
    await archiver_env_v3.put()
    file = archiver_env_v3.office.api.settings.server.data_dir / "archiver.prom"

    code, logged, said = await muniment(archiver_env_v3, "run", MUNIMENT_ARCHIVER_METRICS_FILE=str(file))

    assert (code, said.strip()) == (0, "1 archived"), logged
    assert await archiver_env_v3.waiting() == []
    assert "archive_jobs_processed_total 1.0" in file.read_text()
    assert archiver_env_v3.server.token not in said + logged
    [line] = [line for line in json_lines(logged) if line["event"] == "archive.job"]
    assert {"severity", "timestamp", "r2Key", "paperlessDocId"} <= line.keys()


async def test_run_logs_json_to_stdout_and_ends_with_the_report(archiver_env_v3: ArchiverEnvironment) -> None:
    await archiver_env_v3.put()

    code, logged, said = await muniment(archiver_env_v3, "run", "--json")

    *events, report = json_lines(logged)
    assert (code, said) == (0, "")
    assert (report["outcome"], report["jobs"]) == ("done", {"archived": 1})
    assert {"archive.job", "archive.pass", "archive.metrics"} <= {event["event"] for event in events}


async def test_other_commands_log_to_stderr(archiver_env_v3: ArchiverEnvironment) -> None:
    code, said, _ = await muniment(archiver_env_v3, "dlq", "list", "--json", MUNIMENT_LOG_LEVEL="DEBUG")

    assert (code, json.loads(said)) == (0, [])


@pytest.mark.parametrize("queued", [0, 1])
async def test_run_ends_with_3_when_the_token_is_wrong(archiver_env_v3: ArchiverEnvironment, queued: int) -> None:
    for _ in range(queued):
        await archiver_env_v3.put()

    code, _, said = await muniment(archiver_env_v3, "run", PAPERLESS_API_TOKEN="0" * 40)

    assert code == PassOutcome.NEEDS_OPERATOR
    assert said.strip() == "Paperless rejected the API token"


async def test_run_ends_with_4_and_says_so_when_paperless_does_not_process_files(
    archiver_env_v3: ArchiverEnvironment,
) -> None:
    key = await archiver_env_v3.put()
    archiver_env_v3.server.set(worker="stopped")
    accepted, _, _ = await muniment(archiver_env_v3, "run", MUNIMENT_ARCHIVER_INTERVAL="1s")
    await archiver_env_v3.rewrite(key, uploaded_at=archiver_env_v3.clock.now() - timedelta(hours=2))

    code, _, said = await muniment(archiver_env_v3, "run", MUNIMENT_ARCHIVER_INTERVAL="1s")

    assert (accepted, code) == (PassOutcome.DONE, PassOutcome.RETRY_LATER)
    assert said.startswith("1 left\nPaperless accepted files but does not process them")


async def test_setup_and_run_need_the_permission_to_see_tasks(archiver_env_v3: ArchiverEnvironment) -> None:
    await archiver_env_v3.put()
    token = {"PAPERLESS_API_TOKEN": WITHOUT_TASKS.token}

    set_up, _, said = await muniment(archiver_env_v3, "setup", **token)
    run, _, said_by_run = await muniment(archiver_env_v3, "run", **token)

    assert (set_up, run) == (1, PassOutcome.NEEDS_OPERATOR)
    assert "view_paperlesstask" in said
    assert "view_paperlesstask" in said_by_run
    assert archiver_env_v3.server.requests("upload") == []


async def test_what_is_missing_in_the_settings_is_said_in_a_sentence(archiver_env_v3: ArchiverEnvironment) -> None:
    code, _, logged = await muniment(archiver_env_v3, "run", PAPERLESS_API_TOKEN="")

    assert code == 1
    assert logged.strip() == "muniment: The archiver requires PAPERLESS_URL and PAPERLESS_API_TOKEN"


async def test_setup_makes_everything_once(archiver_env_v3: ArchiverEnvironment) -> None:
    first = await facts(archiver_env_v3, "setup")
    second = await facts(archiver_env_v3, "setup")

    assert first == second
    assert {"tags/bilko-source", "document_types/Care plan", "custom_fields/bilko_sha256"} <= first.keys()
    assert len(archiver_env_v3.server.objects("document_types")) == 6


async def test_dead_letters_are_listed_shown_requeued_and_discarded(archiver_env_v3: ArchiverEnvironment) -> None:
    keys = [await archiver_env_v3.put(name) for name in ("first", "second")]
    archiver_env_v3.server.fault("upload", refused(400), times=2)
    await archiver_env_v3.run(concurrency=1)

    listed = await facts(archiver_env_v3, "dlq", "list")
    _, printed, _ = await muniment(archiver_env_v3, "dlq", "list", COLUMNS="80")
    shown = await facts(archiver_env_v3, "dlq", "show", keys[0].pdf)
    requeued = await muniment(archiver_env_v3, "dlq", "requeue", keys[0].pdf)
    discarded = await muniment(archiver_env_v3, "dlq", "discard", keys[1].pdf, "--yes")

    assert sorted(letter["key"] for letter in listed) == sorted(key.pdf for key in keys)
    assert shown["reason"] == "Paperless rejected the file: No."
    for key in keys:
        assert any(key.pdf in line and shown["reason"] in line for line in printed.splitlines())
    assert (requeued[0], discarded[0]) == (0, 0), requeued[2] + discarded[2]
    assert await archiver_env_v3.waiting() == [keys[0].sidecar, keys[0].pdf]
    assert (await archiver_env_v3.sidecar(keys[0])).retry_count == 0
    assert await archiver_env_v3.waiting(archiver_env_v3.office.dead_letters) == []
    assert {"dead_letter_requeued", "dead_letter_discarded"} <= set(archiver_env_v3.office.actions())
