"""The scripts in `tools/` install the committed locks with uv, and with pip where uv cannot be used."""

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCKS = {"runtime": {"build"}, "dev": {"build", "dev"}}


def read_lock(name: str) -> dict[str, str]:
    """Return the version of every package that the lock installs on this platform."""
    text = (ROOT / f"requirements/{name}.lock").read_text(encoding="utf-8")
    pins = [Requirement(line.removesuffix("\\")) for line in text.splitlines() if not line.startswith((" ", "#"))]
    return {
        canonicalize_name(pin.name): str(pin.specifier).removeprefix("==")
        for pin in pins
        if pin.marker is None or pin.marker.evaluate()
    }


def walk_dependencies(package: str, extras: set[str], seen: set[tuple[str, str]]) -> Iterator[Requirement]:
    """Yield every requirement that applies to this platform, direct and transitive, extras included."""
    for requirement in map(Requirement, requires(package) or []):
        for extra in extras | {""}:
            key = (package, f"{extra}:{requirement}")
            if key in seen or not (requirement.marker is None or requirement.marker.evaluate({"extra": extra})):
                continue
            seen.add(key)
            yield requirement
            yield from walk_dependencies(requirement.name, requirement.extras, seen)


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_has_every_package_it_needs_so_that_pip_may_install_it_without_resolving(name: str) -> None:
    lock = read_lock(name)
    needed = list(walk_dependencies("muniment", LOCKS[name], set()))
    missing = [str(need) for need in needed if canonicalize_name(need.name) not in lock]
    assert missing == []
    unfit = [str(need) for need in needed if not need.specifier.contains(lock[canonicalize_name(need.name)], True)]
    assert unfit == []
    assert len({canonicalize_name(need.name) for need in needed}) > 100


def test_the_development_lock_pins_what_is_installed_in_production() -> None:
    runtime, dev = read_lock("runtime"), read_lock("dev")
    assert {name: dev.get(name) for name in runtime} == runtime


@pytest.mark.parametrize("path", sorted((ROOT / "requirements").glob("*.lock")), ids=lambda path: path.stem)
def test_a_python_lock_names_no_download_address(path: Path) -> None:
    assert "://" not in path.read_text(encoding="utf-8")


def test_the_lock_of_the_web_page_names_no_download_address() -> None:
    lock = json.loads((ROOT / "web/package-lock.json").read_text(encoding="utf-8"))
    assert [name for name, package in lock["packages"].items() if "resolved" in package] == []


def build_wheel(folder: Path, name: str, *metadata: str, version: int = 1) -> str:
    """Write an empty package as a wheel and return its line in a lock."""
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": "",
        f"{info}/METADATA": "\n".join(["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *metadata, ""]),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": f"{name}.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n",
    }
    wheel = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return f"{name}=={version} --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n"


@pytest.fixture
def environment_without_uv(tmp_path: Path) -> Path:
    """An environment with this Python and a uv that always fails, as where it cannot reach the package index."""
    environment = tmp_path / "environment"
    for program, script in {"bin/python": f'exec "{sys.executable}" "$@"', "tools/bin/uv": "exit 1"}.items():
        path = environment / program
        path.parent.mkdir(parents=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
    return environment


def install_lock(environment: Path, lock: Path, *options: str, wheels: Path) -> subprocess.CompletedProcess[str]:
    """Run `tools/install-lock` with these wheels as the only source of packages."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "UV_"))}
    return subprocess.run(
        [ROOT / "tools/install-lock", environment, lock, *options],
        env=inherited | {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_pip_installs_a_lock_whose_extras_have_a_newer_release(environment_without_uv: Path, tmp_path: Path) -> None:
    lock, target = tmp_path / "some.lock", tmp_path / "target"
    pool = ("Provides-Extra: pool", "Requires-Dist: driver_pool; extra == 'pool'")
    lock.write_text(
        build_wheel(tmp_path, "queue_engine", "Requires-Dist: driver[pool]")
        + build_wheel(tmp_path, "driver", *pool)
        + build_wheel(tmp_path, "driver_pool")
    )
    build_wheel(tmp_path, "driver", *pool, version=2)  # pip would try the newest for the extra, and find it unpinned
    outcome = install_lock(environment_without_uv, lock, "--target", str(target), wheels=tmp_path)
    assert outcome.returncode == 0, outcome.stderr
    assert {path.name for path in target.glob("*.dist-info")} == {
        "queue_engine-1.dist-info",
        "driver-1.dist-info",
        "driver_pool-1.dist-info",
    }


@pytest.mark.slow
def test_pip_refuses_a_package_whose_hash_is_not_the_locked_one(environment_without_uv: Path, tmp_path: Path) -> None:
    lock, target = tmp_path / "some.lock", tmp_path / "target"
    lock.write_text(build_wheel(tmp_path, "driver"))
    build_wheel(tmp_path, "driver", "Summary: Another build of the same version")
    outcome = install_lock(environment_without_uv, lock, "--target", str(target), wheels=tmp_path)
    assert outcome.returncode != 0
    assert "DO NOT MATCH THE HASHES" in outcome.stderr
    assert not target.exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", LOCKS)
def test_pip_understands_the_committed_lock_and_finds_it_installed(
    name: str, environment_without_uv: Path, tmp_path: Path
) -> None:
    lock = ROOT / f"requirements/{name}.lock"
    outcome = install_lock(environment_without_uv, lock, "--dry-run", wheels=tmp_path)
    assert outcome.returncode == 0, outcome.stderr
