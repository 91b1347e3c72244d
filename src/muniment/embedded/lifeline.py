"""How the API and the worker notice that their supervisor is gone, even if it was killed."""

import os
import threading
import time
from collections.abc import Callable

SUPERVISOR_FD = "MUNIMENT_SUPERVISOR_FD"
LIMIT_SECONDS = 60.0
"""For an orderly end; more than a supervisor gives."""
ABANDONED = 70


def watch(on_lost: Callable[[], object], *, limit_seconds: float = LIMIT_SECONDS) -> None:
    """Call `on_lost`, in a thread of its own, when the supervisor ends. Without a supervisor nothing happens.

    Whoever has not ended by the limit is ended: nobody else is there to do it, and a process that hangs on its way out
    would stay for ever.
    """
    # Taken out of the environment: what this process starts later does not have the descriptor.
    number = os.environ.pop(SUPERVISOR_FD, None)
    if number is None:
        return
    descriptor = int(number)
    os.set_inheritable(descriptor, False)

    def wait_for_the_end() -> None:
        while os.read(descriptor, 1):
            pass
        os.close(descriptor)
        on_lost()
        time.sleep(limit_seconds)
        os._exit(ABANDONED)

    threading.Thread(target=wait_for_the_end, name="lifeline", daemon=True).start()
