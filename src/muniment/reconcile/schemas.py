from datetime import datetime

from pydantic import BaseModel

from muniment.reconcile.tables import ReconcileReport


class DriftRead(BaseModel):
    store: str
    kind: str
    found: int
    repaired: int
    left: int


class ReconcileRead(BaseModel):
    began_at: datetime
    ended_at: datetime
    repair: bool
    outcome: int
    drift: list[DriftRead]

    @classmethod
    def of(cls, report: ReconcileReport) -> "ReconcileRead":
        return cls(
            began_at=report.began_at,
            ended_at=report.ended_at,
            repair=report.is_repair,
            outcome=report.outcome,
            drift=[DriftRead(**count) for count in report.counts],
        )
