"""Delete at once what a failed run wrote, instead of leaving it to the garbage collection.

A cancelled run cannot write any more: the ledger entries of the cancellation delete what it has stored, and the run
itself deletes the object that it had only reserved.
"""

from collections.abc import Sequence
from contextlib import suppress
from uuid import UUID

from muniment.artifacts.deletion import UnreferencedArtifactRepository, add_pack_deletions
from muniment.errors import Unavailable
from muniment.processing.pipeline.context import RunContext
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Work
from muniment.storage.deletions.ledger import Reservation, process_now


async def delete_unused_artifact(work: Work[Service], artifact_id: UUID) -> Sequence[UUID]:
    """Delete the artifact with its rows unless a document or another run uses it.

    Return the ledger entries of its text, to be processed after the commit.
    """
    pack = await UnreferencedArtifactRepository(work.session).delete_if_unreferenced(artifact_id)
    return await add_pack_deletions(work, [pack]) if pack else ()


async def release_reservation(context: RunContext, reservation: Reservation) -> None:
    """Delete an object that was reserved and will not be used, written or not."""
    with suppress(Unavailable):  # then the sweep deletes it, at the latest when the reservation expires
        async with context.services.database.service_work(context.service) as work:
            await reservation.release(work)
        await process_now(context.services.ledger, context.run.organization_id, [reservation.entry_id])
