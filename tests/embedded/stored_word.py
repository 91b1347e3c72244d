"""A word that is written to the database and must still be there later."""

import psycopg

from muniment.storage.db.address import DatabaseAddress


def ask(address: DatabaseAddress, question: str) -> object:
    with psycopg.connect(address.conninfo, autocommit=True) as connection:
        cursor = connection.execute(question)
        row = cursor.fetchone() if cursor.description else None
        return row[0] if row else None


def keep_a_word(address: DatabaseAddress) -> None:
    ask(address, "CREATE TABLE kept AS SELECT 'still there' AS word")


def assert_word_is_kept(address: DatabaseAddress) -> None:
    assert ask(address, "SELECT word FROM kept") == "still there"
