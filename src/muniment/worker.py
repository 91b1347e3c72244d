"""Build and run a worker process."""

from contextlib import AsyncExitStack

from muniment.bootstrap.installation import open_stores, probe_stores
from muniment.bootstrap.job_handlers import open_job_handlers
from muniment.bootstrap.process import freeze_loaded_objects, run_until_stopped
from muniment.bootstrap.worker import build_worker, build_worker_registry
from muniment.settings import Settings
from muniment.storage.tasks.port import JobHandlers
from muniment.telemetry.metrics import configure_metrics, export_free_disk, serve_metrics
from muniment.telemetry.traces import configure_traces


async def run(settings: Settings, handlers: JobHandlers | None = None) -> None:
    """Process jobs until SIGTERM, SIGINT, or until the supervisor exits. A running job is finished or requeued."""
    flush_traces = configure_traces(settings.telemetry.otlp_endpoint, "muniment-worker")
    configure_metrics(settings.telemetry.metrics_prefix, tenant_labels=settings.telemetry.metrics_tenant_labels)
    stop_metrics = serve_metrics(settings.worker.metrics_port) if settings.worker.metrics_port else lambda: None
    await run_until_stopped(_work(settings, handlers))
    stop_metrics()
    flush_traces()


async def _work(settings: Settings, handlers: JobHandlers | None) -> None:
    async with open_stores(settings) as stores, AsyncExitStack() as opened:
        await probe_stores(stores)
        export_free_disk(settings.server.data_dir)
        workers = build_worker_registry(settings, stores)
        await opened.enter_async_context(workers.registered())
        handlers = handlers or await opened.enter_async_context(open_job_handlers(settings, stores, workers))
        freeze_loaded_objects()
        await workers.run_until_stopped(build_worker(settings, stores, handlers).run())
