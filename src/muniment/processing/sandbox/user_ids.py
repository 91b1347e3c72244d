"""Numeric users that nothing else uses, one for each running child: children cannot touch each other either."""

import grp
import os
import pwd

_UNUSED = range(60578, 61000)
"""Given to nobody by Linux distributions; people stand below, systemd's dynamic users above."""


class UserIds:
    """Hands out ids that no user or group of this machine has. Every server starts at another place of the range."""

    def __init__(self) -> None:
        known = {number for entry in pwd.getpwall() for number in (entry.pw_uid, entry.pw_gid)}
        known |= {entry.gr_gid for entry in grp.getgrall()}
        free = [number for number in _UNUSED if number not in known]
        start = os.getpid() % len(free) if free else 0
        self._free = free[start:] + free[:start]

    def take(self) -> int | None:
        """`None` when we are not root and can become nobody else. `BlockingIOError` when all are in use."""
        if os.geteuid() != 0:
            return None
        if not self._free:
            raise BlockingIOError("Every user id is in use")
        return self._free.pop(0)

    def give_back(self, number: int | None) -> None:
        if number is not None:
            self._free.append(number)  # at the end: it rests as long as possible


def become(number: int) -> None:
    """Turn this process into that user for good, or raise `OSError`."""
    os.setgroups([])
    os.setresgid(number, number, number)
    os.setresuid(number, number, number)
