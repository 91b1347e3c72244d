"""What a process that lives for months does with its memory."""

import gc


def rest_loaded() -> None:
    """What was loaded stays for good: from here on the collector leaves it alone.

    Hundreds of thousands of objects (routes, tables, models) would be looked at again in every full collection, and
    whoever asks in that moment waits for it.
    """
    gc.collect()
    gc.freeze()
