"""The supervisor as a real process, with PostgreSQL where the test needs it."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import psutil
import pytest

from tests.embedded.conftest import Eventually
from tests.embedded.supervised_service import SupervisedService, is_alive

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def bytecode(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bytecode")


@pytest.fixture
def service(used_data_dir: Path, bytecode: Path, eventually: Eventually) -> Iterator[SupervisedService]:
    service = SupervisedService(used_data_dir, bytecode, eventually)
    yield service
    for process in service.processes:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise


def test_parts_start_in_order_and_ctrl_c_stops_them_in_order(service: SupervisedService) -> None:
    process = service.start_and_wait("embedded")
    postmaster = service.postmaster()
    assert postmaster
    assert service.events()[:2] == ["preparing", "prepared"]
    assert service.events()[-1] == "ready"

    os.killpg(process.pid, signal.SIGINT)  # as the terminal does: to the whole foreground group
    assert process.wait(timeout=20) == 0

    output = service.output()
    assert service.events()[-4:] == ["api asked to stop", "api stopped", "worker asked to stop", "worker stopped"]
    assert output.index("name=worker", output.index("child_stopped")) < output.index("supervisor.postgres_stopped")
    assert not {"api interrupted", "worker interrupted"} & set(service.events())
    assert not is_alive(postmaster)
    assert "database system is shut down" in (service.data_dir / "postgres.log").read_text()


def test_second_service_on_the_same_data_is_refused_with_the_process_to_stop(service: SupervisedService) -> None:
    first = service.start_and_wait()
    second = service.start()
    assert second.wait(timeout=20) == 1
    assert f"already running in {service.data_dir} (process {first.pid}). Stop it first" in service.output()
    assert first.poll() is None


def test_killed_postgresql_comes_back_with_the_data_while_the_children_stay(service: SupervisedService) -> None:
    service.start_and_wait("embedded")
    service.query("CREATE TABLE kept AS SELECT 'still there' AS word")
    api, before = service.pid_of("api"), service.postmaster()
    assert before
    before.kill()
    service.eventually(lambda: service.query("SELECT word FROM kept") == [("still there",)])
    after = service.postmaster()
    assert after
    assert after.pid != before.pid
    assert service.pid_of("api") == api
    assert psutil.pid_exists(api)


def test_after_a_killed_supervisor_nothing_stays_and_the_next_one_finds_the_data(service: SupervisedService) -> None:
    process = service.start_and_wait("embedded")
    service.query("CREATE TABLE kept AS SELECT 'still there' AS word")
    orphan = service.postmaster()
    assert orphan
    process.kill()
    service.eventually(lambda: {"api lost", "worker lost"} <= set(service.events()))
    assert is_alive(orphan)

    service.start_and_wait("embedded")

    assert not is_alive(orphan)
    assert service.query("SELECT word FROM kept") == [("still there",)]


def test_killed_child_is_started_again(service: SupervisedService) -> None:
    service.start_and_wait()
    for times in (2, 3):
        os.kill(service.pid_of("worker"), signal.SIGKILL)
        service.eventually(partial(service.has_seen, "worker started", times))
    assert service.events().count("api started") == 1
    assert service.events().count("ready") == 1


def test_child_that_dies_before_it_was_ready_ends_it_all_with_a_sentence(service: SupervisedService) -> None:
    process = service.start(manner="broken")
    assert process.wait(timeout=20) == 1
    assert "The process api exited with code 3 before it was ready" in service.output()
    assert "ready" not in service.events()


def test_child_that_does_not_stop_is_killed_when_its_time_is_over(service: SupervisedService) -> None:
    process = service.start_and_wait(manner="impatient")
    api = service.pid_of("api")
    process.terminate()
    assert process.wait(timeout=20) == 0
    assert not psutil.pid_exists(api)
    assert service.events()[-3:] == ["api asked to stop", "worker asked to stop", "worker stopped"]


def test_second_ctrl_c_does_not_wait_for_the_children(service: SupervisedService) -> None:
    process = service.start_and_wait("embedded", manner="deaf")
    process.send_signal(signal.SIGINT)
    service.eventually(lambda: service.has_seen("api asked to stop"))
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=10) == 0, "the grace period is longer"
    assert "database system is shut down" in (service.data_dir / "postgres.log").read_text()


def test_stop_during_the_preparation_waits_for_it_and_starts_no_child(service: SupervisedService) -> None:
    process = service.start(manner="slow")
    service.eventually(lambda: service.has_seen("preparing"))
    process.terminate()
    (service.data_dir / "go").touch()
    assert process.wait(timeout=20) == 0
    assert service.events() == ["preparing", "prepared"]
    assert "child_started" not in service.output()


def test_second_ctrl_c_breaks_off_the_preparation(service: SupervisedService) -> None:
    process = service.start("embedded", manner="slow")
    service.eventually(lambda: service.has_seen("preparing"))
    server_log = service.data_dir / "postgres.log"
    while "shutdown request" not in server_log.read_text():
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.5)  # two simultaneous signals count as one
    assert process.wait(timeout=20) == 0
    assert service.events() == ["preparing"]
    assert "database system is shut down" in server_log.read_text()
