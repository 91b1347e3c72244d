"""Alerts, metrics and log events of the archiver."""

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest
import structlog

from muniment.handover.archiver.lease import hold_lease
from muniment.handover.archiver.monitoring import Alert, Alerts, AppriseNotifier, ArchiverMetrics, InvalidAlertUrl
from muniment.handover.archiver.pass_context import PassOutcome
from muniment.storage.objects.folder.store import VersionedFolderStore
from tests.handover.archiver.environment import ArchiverEnvironment
from tests.handover.archiver.fakes import FakeClock, RecordingNotifier
from tests.support.fake_paperless.faults import not_found_page, refused, server_error, unauthorized
from tests.support.fake_paperless.outcomes import database_locked

STOPPED = Alert("line-stopped", "P1", "Nothing is archived.")


class AlertHarness:
    def __init__(self, folder: Path) -> None:
        self.queue, self.clock, self.box = VersionedFolderStore(folder), FakeClock(), RecordingNotifier()

    async def settle(
        self, *conditions: Alert, depth: int | None = 0, failures: int = 0, is_complete: bool = True
    ) -> list[str]:
        """Run the alerts of one pass with a new object, and return the notifications."""
        self.box.titles.clear()
        alerts = Alerts(self.queue, self.box, self.clock)
        await alerts.update(conditions, depth=depth, failures=failures, is_complete=is_complete)
        self.clock.advance(minutes=5)
        return [title.removeprefix("P1 ").removeprefix("P2 ").partition(": ")[2] for title in self.box.titles]


@pytest.fixture
def alert_env(tmp_path: Path) -> AlertHarness:
    return AlertHarness(tmp_path)


async def test_a_condition_is_reported_once_and_again_when_it_recurs(alert_env: AlertHarness) -> None:
    assert await alert_env.settle(STOPPED) == ["line-stopped"]
    assert await alert_env.settle(STOPPED) == []
    assert await alert_env.settle() == []
    assert await alert_env.settle(STOPPED) == ["line-stopped"]


async def test_another_cause_of_the_same_condition_is_told(alert_env: AlertHarness) -> None:
    token, address = (Alert("line-stopped", "P1", cause, cause=cause) for cause in ("wrong token", "wrong address"))
    told = [await alert_env.settle(alert, is_complete=False) for alert in (token, token, address, address, token)]
    assert told == [["line-stopped"], [], ["line-stopped"], [], ["line-stopped"]]


async def test_a_stopped_archiver_is_told_again_when_the_cause_changes(archiver_env_v3: ArchiverEnvironment) -> None:
    for fault in (unauthorized(), unauthorized(), not_found_page()):
        archiver_env_v3.server.fault("*", fault, times=None)
        await archiver_env_v3.run()
        archiver_env_v3.server.clear()

    assert archiver_env_v3.notifier.titles == ["P1 Muniment archiver: line-stopped"] * 2


async def test_a_pass_that_finds_another_archiver_is_a_warning(archiver_env_v3: ArchiverEnvironment) -> None:
    with structlog.testing.capture_logs() as lines:
        async with hold_lease(archiver_env_v3.stores.queue, archiver_env_v3.clock):
            report = await archiver_env_v3.run()

    [line] = [line for line in lines if line["event"] == "archive.pass"]
    assert report.outcome is PassOutcome.LEASE_HELD
    assert (line["log_level"], line["severity"]) == ("warning", "WARNING")


async def test_what_could_not_be_sent_is_sent_with_the_next_pass(alert_env: AlertHarness) -> None:
    alert_env.box.is_open = False
    assert await alert_env.settle(STOPPED) == []
    alert_env.box.is_open = True
    assert await alert_env.settle(STOPPED) == ["line-stopped"]


async def test_a_pass_that_was_stopped_does_not_end_other_conditions(alert_env: AlertHarness) -> None:
    letters = Alert("dead-letters", "P1", "1 document")
    await alert_env.settle(letters)
    await alert_env.settle(STOPPED, is_complete=False)
    assert await alert_env.settle(letters) == []


async def test_more_of_the_same_is_news(alert_env: AlertHarness) -> None:
    assert await alert_env.settle(Alert("dead-letters", "P1", "1")) == ["dead-letters"]
    assert await alert_env.settle(Alert("dead-letters", "P1", "2", repeat=True)) == ["dead-letters"]


async def test_a_deep_queue_is_told_after_fifteen_minutes(alert_env: AlertHarness) -> None:
    assert [await alert_env.settle(depth=501) for _ in range(5)] == [[], [], [], ["queue-deep"], []]
    assert [await alert_env.settle(depth=depth) for depth in (501, 500, 501)] == [[], [], []]


async def test_a_deep_queue_is_told_while_no_pass_is_complete(alert_env: AlertHarness) -> None:
    told = [await alert_env.settle(depth=501, is_complete=False) for _ in range(5)]
    assert told == [[], [], [], ["queue-deep"], []]


async def test_a_deep_queue_is_told_while_paperless_is_unreachable(
    archiver_env_v3: ArchiverEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("muniment.handover.archiver.monitoring.BACKLOG_THRESHOLD", 1)
    for number in range(2):
        await archiver_env_v3.put(str(number))
    archiver_env_v3.server.fault("*", server_error(503), times=None)

    reports = []
    for _ in range(4):
        reports.append(await archiver_env_v3.run())
        archiver_env_v3.clock.advance(minutes=5)

    assert {report.outcome for report in reports} == {PassOutcome.RETRY_LATER}
    assert "P2 Muniment archiver: queue-deep" in archiver_env_v3.notifier.titles


async def test_more_than_five_failures_within_an_hour_are_told(alert_env: AlertHarness) -> None:
    assert await alert_env.settle(failures=5) == []
    assert await alert_env.settle(failures=1) == ["many-failures"]
    alert_env.clock.advance(hours=2)
    assert await alert_env.settle(failures=5) == []


async def test_a_job_that_fails_for_the_third_time_is_one_failure(archiver_env_v3: ArchiverEnvironment) -> None:
    for number in range(3):
        await archiver_env_v3.put(str(number), retry_count=2)
    archiver_env_v3.server.next_uploads(database_locked(), times=3)

    report = await archiver_env_v3.run()

    assert report.actions == {"failed": 3, "dead_letter": 3}
    assert archiver_env_v3.notifier.titles == ["P1 Muniment archiver: dead-letters"]


async def test_what_was_remembered_in_another_way_is_told_once_more(alert_env: AlertHarness) -> None:
    await alert_env.queue.put_if_absent("archiver/alerts.json", b"[]")
    assert await alert_env.settle(STOPPED) == ["line-stopped"]


def test_an_address_that_apprise_does_not_know_is_refused_without_being_shown() -> None:
    with pytest.raises(InvalidAlertUrl) as caught:
        AppriseNotifier("mailto://somebody:secret@example.org nonsense://secret")
    assert "secret" not in str(caught.value)


async def test_without_addresses_nobody_is_to_be_reached() -> None:
    assert await AppriseNotifier("").send("title", "body")


def value(metrics: ArchiverMetrics, name: str) -> float | None:
    return metrics.registry.get_sample_value(name)


async def test_a_pass_counts_what_it_did(archiver_env_v3: ArchiverEnvironment) -> None:
    await archiver_env_v3.put("first")
    await archiver_env_v3.put("second")
    archiver_env_v3.server.fault("upload", refused(400))
    archiver = archiver_env_v3.archiver(concurrency=1)

    await archiver.run()
    await archiver.paperless.close()
    await archiver.api.close()

    metrics = archiver.metrics
    assert value(metrics, "archive_queue_depth") == 2
    assert value(metrics, "archive_jobs_processed_total") == 1
    assert value(metrics, "archive_jobs_failed_total") == 1
    assert value(metrics, "archive_dlq_depth") == 1
    assert value(metrics, "archive_e2e_latency_seconds_count") == 1
    assert value(metrics, "archive_paperless_auth_errors_total") == 0
    assert (value(metrics, "archive_last_pass_timestamp_seconds") or 0) > 0


def test_passes_that_are_processes_of_their_own_count_on(tmp_path: Path) -> None:
    file = tmp_path / "archiver.prom"
    for seconds in (10.0, 100.0, 10_000_000.0):
        metrics = ArchiverMetrics()
        metrics.restore(file)
        metrics.failed.inc(3)
        metrics.latency.observe(seconds)
        metrics.write_textfile(file)

    written = file.read_text()
    assert "archive_jobs_failed_total 9.0" in written
    assert "# TYPE archive_e2e_latency_seconds histogram" in written
    assert "archive_e2e_latency_seconds_count 3.0" in written
    assert value(metrics, "archive_e2e_latency_seconds_sum") == 10_000_110.0
    counts = {
        le: metrics.registry.get_sample_value("archive_e2e_latency_seconds_bucket", {"le": le})
        for le in ("5.0", "15.0", "60.0", "120.0", "604800.0", "+Inf")
    }
    assert counts == {"5.0": 0, "15.0": 1, "60.0": 1, "120.0": 2, "604800.0": 2, "+Inf": 3}


def test_the_metrics_of_a_pass_that_measured_nothing_are_valid_json() -> None:
    with structlog.testing.capture_logs() as lines:
        ArchiverMetrics().log_values()

    [line] = lines
    assert "archive_jobs_failed_total" in line
    json.dumps(line, allow_nan=False)


async def test_a_log_line_has_the_specified_fields_and_no_names_of_users(
    archiver_env_v3: ArchiverEnvironment,
) -> None:
    key = await archiver_env_v3.put()

    with structlog.testing.capture_logs() as lines:
        await archiver_env_v3.run()

    [line] = [line for line in lines if line["event"] == "archive.job"]
    assert line["severity"] == "INFO"
    assert line["r2Key"] == key.pdf
    assert line["organizationId"] == str(archiver_env_v3.office.organization_id)
    assert line["documentType"] == "invoice"
    assert line["action"] == "archived"
    assert line["retryCount"] == 0
    assert line["paperlessDocId"] == archiver_env_v3.documents()[0].id
    assert {"bilkoDocumentId", "durationMs", "error"} <= line.keys()
    assert "Firma AS" not in str(lines)
    assert archiver_env_v3.server.token not in str(lines)


def test_exit_codes_and_their_names_in_log_and_json_stay() -> None:
    assert {outcome.value: outcome.label for outcome in PassOutcome} == {
        0: "done",
        3: "line_stopped",
        4: "not_now",
        5: "another_at_work",
    }


async def test_what_an_earlier_version_remembered_is_read_and_written_under_the_same_names(
    alert_env: AlertHarness,
) -> None:
    failed_at = (alert_env.clock.now() - timedelta(minutes=1)).isoformat()
    stored = {"told": {"line-stopped": failed_at}, "deepSince": failed_at, "failedAt": [failed_at] * 5}
    await alert_env.queue.put_if_absent("archiver/alerts.json", json.dumps(stored).encode())

    assert await alert_env.settle(STOPPED, depth=501, failures=1) == ["many-failures"]

    written = json.loads(await alert_env.queue.get("archiver/alerts.json"))
    assert written.keys() == {*stored, "causes"}
    assert written["told"].keys() == {"line-stopped", "many-failures"}
    assert datetime.fromisoformat(written["deepSince"]) == datetime.fromisoformat(failed_at)
    assert len(written["failedAt"]) == 6
