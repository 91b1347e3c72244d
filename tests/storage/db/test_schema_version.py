"""The quick check that skips migrations never accepts a database that is not ready."""

from dataclasses import replace

from alembic.config import Config
from alembic.script import ScriptDirectory

from muniment.storage.db.address import DatabaseAddress
from muniment.storage.db.migrate import downgrade
from muniment.storage.db.schema_version import MIGRATIONS, ReadyInstallation, find_ready_installation, newest_version
from muniment.storage.tasks.procrastinate.engine import ProcrastinateEngine
from tests.support.cluster import PASSWORDS
from tests.support.seed import Seed


def test_one_person_with_a_password_is_named_and_several_are_not(address: DatabaseAddress, seed: Seed) -> None:
    seed.person(email="only@example.org")
    assert find_ready_installation(address, PASSWORDS, ProcrastinateEngine()) == ReadyInstallation("only@example.org")
    seed.person()
    assert find_ready_installation(address, PASSWORDS, ProcrastinateEngine()) == ReadyInstallation(None)


def test_without_anybody_who_has_a_password_there_is_something_to_do(address: DatabaseAddress, seed: Seed) -> None:
    assert find_ready_installation(address, PASSWORDS, ProcrastinateEngine()) is None
    seed.person()
    seed.execute("UPDATE users SET password_hash = NULL")
    assert find_ready_installation(address, PASSWORDS, ProcrastinateEngine()) is None


def test_tables_or_a_queue_of_another_version_are_something_to_do(address: DatabaseAddress, seed: Seed) -> None:
    seed.person()
    seed.execute("COMMENT ON TABLE procrastinate_jobs IS 'procrastinate 3.9.0'")
    assert find_ready_installation(address, PASSWORDS, ProcrastinateEngine()) is None
    downgrade(address, "-1")
    assert find_ready_installation(address, PASSWORDS, ProcrastinateEngine()) is None


def test_a_password_that_was_changed_is_something_to_do(address: DatabaseAddress, seed: Seed) -> None:
    seed.person()
    assert find_ready_installation(address, replace(PASSWORDS, app="another"), ProcrastinateEngine()) is None
    assert find_ready_installation(address, replace(PASSWORDS, service="another"), ProcrastinateEngine()) is None


def test_a_server_that_is_away_is_left_to_the_migrations(address: DatabaseAddress) -> None:
    assert find_ready_installation(replace(address, port=1), PASSWORDS, ProcrastinateEngine()) is None


def test_the_newest_version_is_the_one_that_alembic_finds() -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("path_separator", "os")
    assert newest_version() == ScriptDirectory.from_config(config).get_current_head()
