from uuid import UUID

from fastapi import APIRouter

from muniment.http.dependencies import CurrentWork
from muniment.search.saved.repository import SavedSearchRepository
from muniment.search.saved.schemas import SavedSearchChange, SavedSearchesRead, SavedSearchRead, SavedSearchRequest

router = APIRouter(prefix="/saved-searches", tags=["search"])


@router.get("")
async def list_saved_searches(work: CurrentWork) -> SavedSearchesRead:
    """List your saved searches by name. Nobody else can see them."""
    found = await SavedSearchRepository(work.session).list_()
    return SavedSearchesRead(items=[SavedSearchRead.model_validate(view) for view in found])


@router.post("", status_code=201)
async def save_search(body: SavedSearchRequest, work: CurrentWork) -> SavedSearchRead:
    """Save a search under a name. A user can have 100."""
    repository = SavedSearchRepository(work.session)
    return SavedSearchRead.model_validate(await repository.add(work.caller, body.name, body.parameters.to_json()))


@router.patch("/{search_id}")
async def change_saved_search(search_id: UUID, body: SavedSearchChange, work: CurrentWork) -> SavedSearchRead:
    """Rename a saved search, or replace its parameters."""
    parameters = body.parameters.to_json() if body.parameters else None
    changed = await SavedSearchRepository(work.session).change(search_id, name=body.name, parameters=parameters)
    return SavedSearchRead.model_validate(changed)


@router.delete("/{search_id}", status_code=204)
async def delete_saved_search(search_id: UUID, work: CurrentWork) -> None:
    await SavedSearchRepository(work.session).remove(search_id)
