"""Create a cluster, write to it, restart it and print what it holds."""

import os
import sys
from pathlib import Path

import psycopg

from muniment.embedded.postgres import EmbeddedPostgres

data_dir = Path(sys.argv[1])
postgres = EmbeddedPostgres(data_dir, password="secret", durable=False)
address = postgres.start()
with psycopg.connect(address.conninfo) as connection:
    connection.execute("CREATE TABLE kept AS SELECT 'still there' AS word")
postgres.stop()
address = postgres.start()
with psycopg.connect(address.conninfo) as connection:
    word = connection.execute("SELECT word FROM kept").fetchone()
postgres.stop()
sys.stdout.write(f"{os.getuid()} {word}\n")
