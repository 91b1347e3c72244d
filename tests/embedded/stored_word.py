"""Write a word to the database and check later that it is still there."""

import psycopg

from muniment.storage.db.address import DatabaseAddress


def query(address: DatabaseAddress, question: str) -> object:
    with psycopg.connect(address.conninfo, autocommit=True) as connection:
        cursor = connection.execute(question)
        row = cursor.fetchone() if cursor.description else None
        return row[0] if row else None


def store_word(address: DatabaseAddress) -> None:
    query(address, "CREATE TABLE kept AS SELECT 'still there' AS word")


def assert_word_is_stored(address: DatabaseAddress) -> None:
    assert query(address, "SELECT word FROM kept") == "still there"
