from dataclasses import dataclass, replace
from uuid import UUID

from muniment.documents.repository import DocumentRepository
from muniment.lifecycle.explain.facts import ExplainRepository, Facts, gather
from muniment.lifecycle.explain.obstacles import Judgement, judge
from muniment.lifecycle.explain.sentences import advise, why
from muniment.lifecycle.mover import Mover
from muniment.lifecycle.permission import require_member
from muniment.storage.db.principal import Principal, Service


@dataclass(frozen=True)
class Explanation:
    facts: Facts
    why: str
    judgements: list[Judgement]
    next: list[str]


async def explain(mover: Mover, caller: Principal, kb_id: UUID, document_id: UUID) -> Explanation:
    """To anybody who may see the document: why it is where it is, and what can be done with it by whom."""
    async with mover.database.work(caller) as work:
        access = await require_member(work, kb_id)
        document = await DocumentRepository(work.session).get(kb_id, document_id)
        facts = await gather(work, access, document)
    facts = replace(facts, is_being_put_back=await _is_being_put_back(mover, caller, document_id))
    judgements = judge(facts)
    return Explanation(facts, why(facts), judgements, advise(facts, judgements))


async def _is_being_put_back(mover: Mover, caller: Principal, document_id: UUID) -> bool:
    if not mover.index.holds_copies:
        return False
    async with mover.database.service_work(Service(caller.organization_id)) as work:
        return await ExplainRepository(work.session).is_being_put_back(document_id)
