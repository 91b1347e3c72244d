"""A cluster can only be opened by the major version of PostgreSQL that made it."""

import shlex

from muniment.embedded.binaries import Binaries
from muniment.embedded.errors import PostgresFailed
from muniment.embedded.place import PORT, Place
from muniment.embedded.pointer import SUPERUSER


def check_major_version(place: Place, binaries: Binaries) -> None:
    """Refuse a cluster of another major version, with the commands that carry its content over."""
    try:
        found = (place.cluster / "PG_VERSION").read_text().strip()
    except FileNotFoundError:
        raise PostgresFailed(f"{place.cluster} exists but holds no database; move it away to begin anew") from None
    if found != binaries.major_version:
        raise PostgresFailed(_way_over(found, place, binaries))


def _way_over(found: str, place: Place, binaries: Binaries) -> str:
    cluster, aside = (shlex.quote(str(path)) for path in (place.cluster, place.base / f"cluster-{found}"))
    new = shlex.quote(str(binaries.folder))
    start = f"""-D {cluster} -o "-c listen_addresses= -p {PORT} -k /tmp" -w start"""
    login = f"-h /tmp -p {PORT} -U {SUPERUSER}"
    return f"""\
The database files {place.cluster} were made by PostgreSQL {found}; this Muniment brings PostgreSQL \
{binaries.major_version}. Nothing was changed. Carry the content over, as the user {place.user.name}, with OLD for \
the folder of PostgreSQL {found}'s programs (the password is that of the embedded PostgreSQL's own account):
  OLD/pg_ctl {start}
  OLD/pg_dumpall {login} --clean --if-exists > /tmp/muniment.sql
  OLD/pg_ctl -D {cluster} -w stop
  mv {cluster} {aside}  # as the user who starts Muniment
Start Muniment once, so that it makes a new cluster, and stop it again. Then:
  {new}/pg_ctl {start}
  {new}/psql {login} -f /tmp/muniment.sql postgres
  {new}/pg_ctl -D {cluster} -w stop
and start Muniment."""
