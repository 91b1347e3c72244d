"""Show the active embedding model, and switch to the configured one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from rich.console import Console
from rich.table import Table
from rich.text import Text

from muniment.bootstrap.installation import open_stores
from muniment.bootstrap.processing import build_embedders
from muniment.search.indexing.model_switch import IndexStatus, ModelSwitch
from muniment.settings import Settings


async def load_status(settings: Settings) -> IndexStatus:
    async with _open_switching(settings) as switching:
        return await switching.status()


async def switch_model(settings: Settings, *, anyway: bool) -> bool:
    """Activate the configured model. Return False if it is already active."""
    async with _open_switching(settings) as switching:
        before = await switching.switch(force=anyway)
    return not before.configured.is_active


def print_status(status: IndexStatus) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in ("model", "variant", "documents", ""):
        table.add_column(column, overflow="fold")
    for variant in status.variants:
        role = ", ".join(
            word for word, is_so in (("active", variant.is_active), ("configured", variant.is_configured)) if is_so
        )
        documents = f"{variant.documents} of {status.completed_documents}"
        table.add_row(Text(variant.model), variant.fingerprint[:12], documents, role)
    console = Console()
    console.print(table)
    if status.unindexed_documents:
        console.print(
            f"{status.unindexed_documents} completed documents are not indexed with the configured model. "
            "Run `muniment reprocess`."
        )


@asynccontextmanager
async def _open_switching(settings: Settings) -> AsyncIterator[ModelSwitch]:
    async with open_stores(settings) as stores:
        embedders = build_embedders(settings)
        try:
            yield ModelSwitch(stores.database, embedders[0])
        finally:
            for embedder in embedders:
                await embedder.close()
