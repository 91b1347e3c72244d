"""Serve /docs entirely from this machine; FastAPI's own page loads its assets from a CDN."""

from html import escape

from fastapi import FastAPI
from fastapi.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles

# React sets styles through the DOM, which needs no permission, so Swagger UI's stylesheet is enough.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="/docs/assets/favicon-32x32.png">
<link rel="stylesheet" href="/docs/assets/swagger-ui.css">
</head>
<body>
<div id="api" data-description="{description}"></div>
<script src="/docs/assets/swagger-ui-bundle.js"></script>
<script src="/docs/assets/start.js"></script>
</body>
</html>
"""
# With a `validatorUrl` the description would be sent to a Swagger server.
START = """const page = document.getElementById("api");
SwaggerUIBundle({ url: page.dataset.description, domNode: page, deepLinking: true, validatorUrl: null });
"""


def add_api_docs(app: FastAPI) -> None:
    """Serve /docs and /docs/assets. The application must be created with `docs_url=None, redoc_url=None`."""
    if app.docs_url or app.redoc_url or not app.openapi_url:
        raise ValueError("api docs need FastAPI(docs_url=None, redoc_url=None) and an openapi_url")
    page = PAGE.format(title=escape(app.title), description=escape(app.openapi_url))

    @app.get("/docs", include_in_schema=False)
    async def read_api_docs() -> HTMLResponse:
        return HTMLResponse(page, headers={"Content-Security-Policy": CONTENT_SECURITY_POLICY})

    @app.get("/docs/assets/start.js", include_in_schema=False)
    async def read_api_docs_start() -> Response:
        return Response(START, media_type="text/javascript")

    # A package that contains the published files of Swagger UI 5 and little else.
    app.mount("/docs/assets", StaticFiles(packages=[("fastapi_swagger", "resources")]), name="api_docs_assets")
