from fastapi import APIRouter

from muniment.accounts.users import require_operator
from muniment.http.dependencies import CurrentWork
from muniment.reconcile.report import NeverReconciled, ReportRepository
from muniment.reconcile.schemas import ReconcileRead

router = APIRouter(prefix="/reconcile", tags=["reconciliation"])


@router.get("/latest")
async def get_latest(work: CurrentWork) -> ReconcileRead:
    """The last comparison of all stores, in numbers, for operators. `outcome` is 0 when nothing is left, 1 when
    something is, 2 when data is missing."""
    require_operator(work.caller)
    latest = await ReportRepository(work.session).find_latest()
    if latest is None:
        raise NeverReconciled
    return ReconcileRead.of(latest)
