from fastapi import APIRouter

from muniment.accounts.users import require_operator
from muniment.http.dependencies import CurrentWork
from muniment.reconcile.report import NeverReconciled, ReportRepository
from muniment.reconcile.schemas import ReconcileRead

router = APIRouter(prefix="/reconcile", tags=["reconciliation"])


@router.get("/latest")
async def get_latest(work: CurrentWork) -> ReconcileRead:
    """Return the numbers of the last reconciliation, for operators. `outcome` is 0 (consistent), 1 (drift) or
    2 (data missing)."""
    require_operator(work.caller)
    latest = await ReportRepository(work.session).find_latest()
    if latest is None:
        raise NeverReconciled
    return ReconcileRead.of(latest)
