"""Save an installation into a few files, and restore it from them as an operator restores a backup."""

import hashlib
import json
import lzma
import os
import subprocess
import tarfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from muniment.embedded.binaries import find_binaries
from muniment.embedded.postgres import EmbeddedPostgres
from muniment.embedded.postgres_location import find_database_address
from muniment.embedded.system_user import SystemUser
from muniment.processing.readers.ocr.engine import find_engine, installed_languages
from muniment.storage.db.address import DatabaseAddress

DATABASE, DATA = "database.sql.xz", "data.tar.xz"
DEADLINES = (("deletions", "next_attempt_at"), ("document_revisions", "expires_at"), ("uploads", "expires_at"))
"""Columns with the time after which something is deleted. Not every version has all of them."""
NOT_SAVED = ("postgres", ".postgres", "muniment.lock")
"""Files of the running server start with one of these; the database is saved as a dump."""


def save(data_dir: Path, folder: Path) -> None:
    """Save the data directory, which must not be in use."""
    postgres = EmbeddedPostgres(data_dir, password=_superuser_password(data_dir))
    address = postgres.start()
    try:
        roles = _run("pg_dumpall", address, "--roles-only", "--no-role-passwords")
        dump = _run("pg_dump", address)
    finally:
        postgres.stop()
    # `migrate` sets the passwords of the logins; the superuser's role comes with its cluster.
    ours = [line for line in roles.splitlines() if line.startswith(("CREATE ROLE muniment_", "ALTER ROLE muniment_"))]
    (folder / DATABASE).write_bytes(lzma.compress("\n".join([*ours, dump]).encode(), preset=9))
    with tarfile.open(folder / DATA, "w:xz", preset=9) as archive:
        for path in sorted(data_dir.iterdir()):
            if not path.name.startswith(NOT_SAVED):
                archive.add(path, path.name)


def restore(folder: Path, data_dir: Path, reading: dict[str, Any]) -> None:
    """Create a data directory, ready for `muniment serve`, as if it was saved just now with the current libraries."""
    data_dir.mkdir(mode=0o711)
    with tarfile.open(folder / DATA) as archive:
        archive.extractall(data_dir, filter="data")
    postgres = EmbeddedPostgres(data_dir, password=_superuser_password(data_dir), durable=False)
    address = postgres.start()
    try:
        dump = lzma.decompress((folder / DATABASE).read_bytes()).decode()
        _run("psql", address, "--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1", given=dump)
        with psycopg.connect(address.conninfo) as connection:
            connection.execute("SET session_replication_role = replica")  # without triggers and foreign keys
            _renew_deadlines(connection)
            _date_artifacts(connection, data_dir, reading)
    finally:
        postgres.stop()


def superuser(data_dir: Path) -> DatabaseAddress:
    """Return the login that sees every row of a running installation."""
    address = find_database_address(data_dir)
    assert address is not None
    return address.as_login(address.user, _superuser_password(data_dir))


def _superuser_password(data_dir: Path) -> str:
    return (data_dir / "secrets" / "database_superuser_password").read_text(encoding="utf-8").strip()


def _run(program: str, address: DatabaseAddress, *arguments: str, given: str = "") -> str:
    binaries = find_binaries(SystemUser.from_uid(os.geteuid()))
    command = [binaries.program(program), f"--dbname={address.conninfo}", *arguments]
    done = subprocess.run(command, input=given, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _renew_deadlines(connection: psycopg.Connection[Any]) -> None:
    """Give everything that expires the time it had left.

    Otherwise a sweep would delete the pages of an interrupted run and the failed replacement before anyone looks.
    """
    row = connection.execute("SELECT now() - max(last_heartbeat) FROM procrastinate_workers").fetchone()
    assert row is not None
    for table, column in DEADLINES:
        if table in _tables_with(connection, column):
            names = {"table": sql.Identifier(table), "column": sql.Identifier(column)}
            connection.execute(sql.SQL("UPDATE {table} SET {column} = {column} + %s").format(**names), row)


def _date_artifacts(connection: psycopg.Connection[Any], data_dir: Path, reading: dict[str, Any]) -> None:
    """Rewrite the reading fingerprint of all artifacts to the one this version would have given them today.

    The versions of the libraries are part of it. Without this, a new version of lxml would make the fixture's documents
    unread, and the test could not tell that from a fingerprint that our own code changed by mistake.
    """
    before, after = _fingerprint(reading), _fingerprint(_with_present_libraries(reading))
    tables = _tables_with(connection, "params_fingerprint")
    assert tables
    for table in tables:
        found = connection.execute(sql.SQL("SELECT DISTINCT params_fingerprint FROM {}").format(sql.Identifier(table)))
        assert found.fetchall() in ([], [(before,)])
        statement = sql.SQL("UPDATE {} SET params_fingerprint = %s").format(sql.Identifier(table))
        connection.execute(statement, [after])
    # It is part of the keys of the pages that an interrupted run has stored.
    connection.execute("UPDATE deletions SET target = replace(target, %s, %s)", [before, after])
    for folder in data_dir.glob(f"blobs/artifacts/*/partial/*/*-{before}"):
        folder.rename(folder.with_name(folder.name.replace(before, after)))


def _tables_with(connection: psycopg.Connection[Any], column: str) -> list[str]:
    found = connection.execute(
        "SELECT relname FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid"
        " WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND attname = %s",
        [column],
    )
    return [table for (table,) in found]


def _with_present_libraries(reading: dict[str, Any]) -> dict[str, Any]:
    engine = find_engine()
    wanted = tuple(reading["options"]["ocr_languages"])
    ocr = {"engine": engine.version, "languages": installed_languages(engine.data_folder, wanted)} if engine else None
    return {**reading, "packages": {name: _version(name) for name in reading["packages"]}, "ocr": ocr}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _fingerprint(reading: dict[str, Any]) -> str:
    """Repeated here on purpose: it must stay what it was when the fixtures were made."""
    canonical = json.dumps({"reading": reading}, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
