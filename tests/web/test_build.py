import gzip
import hashlib
import json
from base64 import b64encode
from pathlib import Path

import pytest

from muniment.web.build import MANIFEST, build_site, content_security_policy
from muniment.web.static_site import load_site


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    """A small example of what Next.js exports."""
    folder = tmp_path / "out"
    files = {
        "index.html": "<html><script>first()</script></html>",
        "kb.html": '<html><script src="/_next/static/a.js"></script><script>second()</script></html>',
        "404.html": "<html>not there</html>",
        "kb.txt": "payload",
        "_next/static/chunks/a-0123.js": "code()" * 100,
        "icon.svg": "<svg/>",
        "notes.map": "a source map, which nobody asked for",
    }
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    return folder


def hash_of(code: bytes) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(code).digest()).decode()}'"


def directive(policy: str, name: str) -> list[str]:
    return next(part.split()[1:] for part in policy.split("; ") if part.split()[0] == name)


def test_every_page_may_run_its_own_inline_scripts_and_no_others(exported: Path, tmp_path: Path) -> None:
    site = build_site(exported, tmp_path / "static")
    policies = {path: site[path]["policy"] or "" for path in ("/", "/kb", "/404")}
    assert directive(policies["/"], "script-src") == ["'self'", hash_of(b"first()")]
    assert directive(policies["/kb"], "script-src") == ["'self'", hash_of(b"second()")]
    assert directive(policies["/404"], "script-src") == ["'self'"]
    assert site["/kb.txt"]["policy"] is None


def test_a_policy_hashes_scripts_as_the_browser_sees_them() -> None:
    page = b'<script id="x" async>\n a < b && "</scr" \n</script><script type="module" src="/m.js"></script>'
    assert directive(content_security_policy(page), "script-src") == ["'self'", hash_of(b'\n a < b && "</scr" \n')]


def test_nothing_is_allowed_that_is_not_named(exported: Path, tmp_path: Path) -> None:
    policy = build_site(exported, tmp_path / "static")["/"]["policy"] or ""
    for name in ("default-src", "base-uri", "frame-ancestors"):
        assert directive(policy, name) == ["'none'"]
    assert directive(policy, "connect-src") == ["'self'"]
    assert "unsafe-eval" not in policy
    assert "unsafe-inline" not in directive(policy, "script-src")


def test_pages_are_asked_for_without_their_ending_and_unknown_kinds_are_left_out(
    exported: Path, tmp_path: Path
) -> None:
    site = build_site(exported, tmp_path / "static")
    assert set(site) == {"/", "/kb", "/404", "/kb.txt", "/icon.svg", "/_next/static/chunks/a-0123.js"}
    assert [path for path, entry in site.items() if entry["is_immutable"]] == ["/_next/static/chunks/a-0123.js"]


def test_the_compressed_twin_holds_the_same_and_is_the_same_each_time(exported: Path, tmp_path: Path) -> None:
    build_site(exported, tmp_path / "one")
    build_site(exported, tmp_path / "two")
    files = {file.relative_to(tmp_path / "one") for file in (tmp_path / "one").rglob("*.gz")}
    assert files
    for file in files:
        compressed = (tmp_path / "one" / file).read_bytes()
        assert compressed == (tmp_path / "two" / file).read_bytes()
        assert gzip.decompress(compressed) == (tmp_path / "one" / file.with_suffix("")).read_bytes()


def test_what_an_earlier_build_left_is_gone(exported: Path, tmp_path: Path) -> None:
    target = tmp_path / "static"
    build_site(exported, target)
    (exported / "kb.html").unlink()
    build_site(exported, target)
    assert not (target / "kb.html").exists()
    assert "/kb" not in json.loads((target / MANIFEST).read_text())
    assert load_site(target).find("/kb") is None
