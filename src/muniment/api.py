"""Build and run the API process."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from socket import socket

import uvicorn
from fastapi import APIRouter, FastAPI
from starlette.types import ASGIApp

from muniment import __version__
from muniment.accounts import endpoints as accounts
from muniment.audit import endpoints as audit
from muniment.bootstrap.installation import open_stores, probe_stores
from muniment.bootstrap.process import freeze_loaded_objects, on_stop
from muniment.bootstrap.services import build_services
from muniment.documents import endpoints as documents
from muniment.documents.uploads import endpoints as uploads
from muniment.handover import endpoints as handover
from muniment.handover.internal import endpoints as internal
from muniment.http.api_docs import add_api_docs
from muniment.http.dependencies import AUTH_SCHEMES
from muniment.http.error_responses import document_errors
from muniment.http.errors import add_error_handlers
from muniment.http.health import router as health
from muniment.http.middleware.access_log import AccessLog
from muniment.http.middleware.limits import BodyLimit, HeaderLimitProtocol
from muniment.http.middleware.origin_check import OriginCheck
from muniment.http.middleware.security_headers import SecurityHeaders
from muniment.http.services import Services
from muniment.knowledge_bases import endpoints as knowledge_bases
from muniment.lifecycle import endpoints as lifecycle
from muniment.processing.events import endpoints as events
from muniment.processing.results import endpoints as results
from muniment.processing.runs import endpoints as processing
from muniment.reconcile import endpoints as reconcile
from muniment.search import endpoints as search
from muniment.search.saved import endpoints as saved_searches
from muniment.settings import Settings
from muniment.telemetry.metrics import configure_metrics, export_free_disk
from muniment.telemetry.traces import configure_traces
from muniment.web.static_site import add_pages, load_site

MAX_CONNECTIONS = 1000


def create_app(services: Services) -> FastAPI:
    app = build_documented_app()
    app.state.services = services
    if services.handover.internal_keys:
        app.include_router(internal.router)
    add_api_docs(app)
    add_error_handlers(app)
    add_pages(app, load_site())
    return app


def build_documented_app() -> FastAPI:
    """Build the application that `/openapi.json` describes, without services; `tools/openapi` needs no more."""
    app = FastAPI(
        title="Muniment",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        # A redirect would name the scheme that we see, not the one of the client: a token could be sent in the clear.
        redirect_slashes=False,
    )
    v1 = APIRouter(prefix="/api/v1", dependencies=AUTH_SCHEMES)
    for router in (
        accounts.auth_router,
        accounts.organizations_router,
        accounts.users_router,
        audit.router,
        audit.receipts_router,
        knowledge_bases.router,
        uploads.router,
        documents.router,
        documents.all_documents,
        documents.organization_usage,
        lifecycle.router,
        lifecycle.purge_router,
        lifecycle.replace_router,
        lifecycle.bulk_router,
        lifecycle.archived_router,
        processing.runs,
        processing.statistics,
        events.router,
        results.router,
        reconcile.router,
        search.router,
        saved_searches.router,
        handover.organization_router,
        handover.document_router,
        handover.operator_router,
    ):
        v1.include_router(router)
    for router in (v1, health):
        app.include_router(router)
    document_errors(app)
    return app


def with_middleware(app: ASGIApp, settings: Settings) -> ASGIApp:
    """Wrap the whole application. `add_middleware` would leave out the responses to unexpected errors."""
    url = settings.server.public_url
    guarded = OriginCheck(BodyLimit(app), public_url=url, listening_host=settings.server.host)
    return AccessLog(SecurityHeaders(guarded, public_url=url))


async def run(settings: Settings) -> None:
    """Serve until SIGTERM, SIGINT, or until the supervisor exits."""
    flush_traces = configure_traces(settings.telemetry.otlp_endpoint, "muniment-api")
    configure_metrics(settings.telemetry.metrics_prefix, tenant_labels=settings.telemetry.metrics_tenant_labels)
    async with open_stores(settings) as stores:
        await probe_stores(stores)
        export_free_disk(settings.server.data_dir)
        services = build_services(settings, stores)
        app = with_middleware(create_app(services), settings)
        server = ApiServer(uvicorn_config(settings, app), end_streams=services.events.close)
        on_stop(lambda number: server.handle_exit(number, None))
        freeze_loaded_objects()
        try:
            await server.serve()
        finally:
            await services.images.close()
            await services.search.close()
    flush_traces()


class ApiServer(uvicorn.Server):
    """uvicorn server that leaves signals to `run`.

    uvicorn would raise captured signals again when it ends, before the stores are closed.
    """

    def __init__(self, config: uvicorn.Config, *, end_streams: Callable[[], Awaitable[None]]) -> None:
        super().__init__(config)
        self._end_streams = end_streams

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        # uvicorn waits for open responses, and an event stream never ends on its own.
        await self._end_streams()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def uvicorn_config(settings: Settings, app: ASGIApp) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=HeaderLimitProtocol,
        limit_concurrency=MAX_CONNECTIONS,
        host=settings.server.host,
        port=settings.server.port,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="off",
        timeout_graceful_shutdown=10,
        # Forwarded headers are trusted only from proxies that the settings name.
        proxy_headers=settings.server.trusted_proxies is not None,
        forwarded_allow_ips=settings.server.trusted_proxies or "",
    )
