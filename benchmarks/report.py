from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter


@dataclass(frozen=True)
class Row:
    what: str
    measured: str
    against: str = ""
    wanted: str = ""


@dataclass
class Report:
    rows: list[Row] = field(default_factory=list)

    def add(self, what: str, measured: str, against: str = "", wanted: str = "") -> None:
        self.rows.append(Row(what, measured, against, wanted))

    def table(self) -> str:
        heads = Row("what", "measured", "against", "wanted")
        rows = [(line.what, line.measured, line.against, line.wanted) for line in (heads, *self.rows)]
        widths = [max(len(row[column]) for row in rows) for column in range(4)]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)


def timed(action: Callable[[], object], *, times: int) -> list[float]:
    """Return the seconds of each call, sorted."""
    seconds = []
    for _ in range(times):
        began = perf_counter()
        action()
        seconds.append(perf_counter() - began)
    return sorted(seconds)


def percentile(seconds: Sequence[float], share: float) -> float:
    return seconds[min(len(seconds) - 1, int(len(seconds) * share))]


def in_ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"
