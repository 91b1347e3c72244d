"""The system user for PostgreSQL, which refuses to run as root."""

import os
import pwd
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from muniment.embedded.errors import PostgresFailed

CANDIDATES = ("muniment", "postgres", "nobody")

# Nothing of our environment: it may contain secrets, and PG* variables would affect the programs.
ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}


@dataclass(frozen=True)
class SystemUser:
    name: str
    uid: int
    gid: int

    @classmethod
    def from_uid(cls, uid: int) -> Self:
        try:
            entry = pwd.getpwuid(uid)
        except KeyError:
            raise PostgresFailed(f"PostgreSQL needs a named user, and the user ID {uid} has no name") from None
        return cls(entry.pw_name, uid, entry.pw_gid)

    @classmethod
    def find(cls, name: str) -> Self | None:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            return None
        return cls(name, entry.pw_uid, entry.pw_gid)

    @property
    def is_other_user(self) -> bool:
        return self.uid != os.geteuid()

    def can_enter(self, folder: Path) -> bool:
        """Whether the user can enter `folder`, by trying: permission bits do not cover ACLs and mounts."""
        if not self.is_other_user:
            return os.access(folder, os.X_OK)
        try:
            code, _ = self.run(["/bin/sh", "-c", 'cd "$1"', "sh", str(folder)])
        except PermissionError:
            raise PostgresFailed(
                f"PostgreSQL cannot run as root, and switching to {self.name} failed. Start Muniment as a regular user"
            ) from None
        return code == 0

    def chown(self, path: Path) -> None:
        if self.is_other_user:
            os.chown(path, self.uid, self.gid)

    def run(self, command: Sequence[str]) -> tuple[int, str]:
        """Run a short program and return its exit code and output.

        Raise `PermissionError` if the user cannot execute it.
        """
        with self.spawn(command, output=subprocess.PIPE) as process:
            output, _ = process.communicate()
        return process.returncode, output.decode(errors="replace")

    def spawn(self, command: Sequence[str], *, output: int) -> subprocess.Popen[bytes]:
        """Start a program as this user in its own session, so that Ctrl-C reaches only the supervisor."""
        return subprocess.Popen(  # noqa: S603 the programs are PostgreSQL's and the shell; only paths of ours vary
            command,
            user=self.uid if self.is_other_user else None,
            group=self.gid if self.is_other_user else None,
            extra_groups=[] if self.is_other_user else None,
            cwd="/",  # the current directory may be closed to this user
            env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            umask=0o077,
            start_new_session=True,
        )


def choose_user(*, cluster_owner: int | None, preferred: str | None) -> SystemUser:
    """Return the current user, or for root: the owner of the cluster, `preferred`, or the first that exists."""
    if os.geteuid() != 0:
        if cluster_owner not in (None, os.geteuid()):
            raise PostgresFailed(
                f"The database files belong to the user ID {cluster_owner}. Start Muniment as that user"
            )
        return SystemUser.from_uid(os.geteuid())
    if cluster_owner == 0:
        raise PostgresFailed("The database files belong to root, and PostgreSQL cannot run as root. Change their owner")
    if cluster_owner is not None:
        return SystemUser.from_uid(cluster_owner)
    for name in (preferred,) if preferred else CANDIDATES:
        if (user := SystemUser.find(name)) and user.uid != 0:
            return user
    raise PostgresFailed(
        f"PostgreSQL cannot run as root, and no unprivileged user was found ({preferred or ', '.join(CANDIDATES)})"
    )
