"""The first page: spends the one-time link, signs in, and shows the way to the API. The whole web page comes later."""

from importlib import resources

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, RedirectResponse, Response

router = APIRouter(include_in_schema=False)

PAGES = resources.files("muniment.http") / "pages"
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


@router.get("/")
async def home() -> RedirectResponse:
    return RedirectResponse("/sign-in")


@router.get("/sign-in")
async def sign_in_page() -> HTMLResponse:
    page = (PAGES / "sign-in.html").read_text(encoding="utf-8")
    return HTMLResponse(page, headers={"Content-Security-Policy": CONTENT_SECURITY_POLICY})


@router.get("/sign-in.js")
async def sign_in_script() -> Response:
    return Response((PAGES / "sign-in.js").read_bytes(), media_type="text/javascript")


@router.get("/sign-in.css")
async def sign_in_style() -> Response:
    return Response((PAGES / "sign-in.css").read_bytes(), media_type="text/css")
