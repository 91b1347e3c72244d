"""Names that programs, dashboards or stored rows depend on. Each is compared with a list written by version 0.1.0.

A name may be added to `frozen_names.json`; changing or removing one breaks an installation or somebody's dashboard.
"""

import json
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from muniment.api import build_documented_app
from muniment.artifacts.keys import ReadingVariant, reading_variant
from muniment.artifacts.repository import ArtifactKey
from muniment.audit import events
from muniment.documents.runs import RunPurpose, RunStatus
from muniment.errors import MunimentError
from muniment.processing.pipeline.artifact_builder import _diagram_key
from muniment.processing.pipeline.nodes.extract_text import compute_lock_name
from muniment.processing.readers.contract import ExtractionMethod, Figure, FigureKind, ParagraphKind, ReadingOptions
from muniment.processing.readers.errors import UnreadableCode
from muniment.processing.runs.deaths import QUARANTINED, MortalProcess
from muniment.processing.runs.tables import STEP_ORDER, StepStatus
from muniment.search.indexing import model_switch
from muniment.search.indexing.chunking import ChunkOptions
from muniment.settings import Settings
from muniment.settings.report import describe
from muniment.settings.sources import is_generated

FROZEN: dict[str, list[str]] = json.loads((Path(__file__).parent / "frozen_names.json").read_text())


def _subclasses(kind: type[Any]) -> Iterator[type[Any]]:
    for child in kind.__subclasses__():
        yield child
        yield from _subclasses(child)


def _operations() -> list[str]:
    paths: dict[str, dict[str, dict[str, Any]]] = build_documented_app().openapi()["paths"]
    return sorted(
        f"{method} {path} {found['operationId']}" for path, of in paths.items() for method, found in of.items()
    )


def _events() -> list[str]:
    assert issubclass(model_switch.IndexSwitched, events.Event)  # the only event defined by its feature
    concrete = [kind for kind in _subclasses(events.Event) if "action" in kind.__dict__]
    return sorted(f"{kind.action}: {' '.join(item.name for item in fields(kind))}" for kind in concrete)


def _secret_files(settings: Settings) -> list[str]:
    return sorted(
        f"{section}_{name}"
        for section, values in settings.sections().items()
        for name, field in type(values).model_fields.items()
        if is_generated(field)
    )


def _values() -> list[str]:
    kinds = (
        UnreadableCode,
        ExtractionMethod,
        FigureKind,
        ParagraphKind,
        RunPurpose,
        RunStatus,
        StepStatus,
        MortalProcess,
    )
    return sorted({QUARANTINED, *(member.value for kind in kinds for member in kind)})


def missing(kind: str, present: list[str]) -> list[str]:
    return [name for name in FROZEN[kind] if name not in set(present)]


def test_no_path_method_or_operation_id_has_changed() -> None:
    assert missing("operations", _operations()) == []


def test_audit_actions_and_their_payload_keys_are_those_that_are_stored() -> None:
    assert missing("events", _events()) == []


def test_error_codes_are_those_of_dashboards_and_logs() -> None:
    assert missing("error_codes", [kind.code for kind in _subclasses(MunimentError)]) == []


def test_secrets_are_looked_for_in_the_files_that_exist() -> None:
    assert _secret_files(Settings.load()) == FROZEN["secret_files"]


def test_settings_have_the_names_that_installations_use() -> None:
    present = [f"{line.group} {line.name}" for line in describe(Settings.load(), {})]
    assert missing("settings", present) == []


def test_steps_and_stored_values_are_those_of_the_specification() -> None:
    assert list(STEP_ORDER) == FROZEN["steps"]
    assert missing("values", _values()) == []


def test_fields_that_are_hashed_into_fingerprints_keep_their_names() -> None:
    assert [item.name for item in fields(ReadingOptions)] == FROZEN["reading_options"]
    assert [item.name for item in fields(ChunkOptions)] == FROZEN["chunk_options"]


def test_a_reading_has_the_fingerprint_that_it_always_had() -> None:
    parameters = {"options": {"ocr_dpi": 300}, "packages": {"lxml": "6"}, "ocr": None}
    assert reading_variant(parameters).params_fingerprint == FROZEN["fingerprint"][0]


def test_workers_of_two_versions_wait_for_the_same_lock() -> None:
    key = ArtifactKey(None, "k1:abc", ReadingVariant(1, "f00"))
    assert compute_lock_name(key) == "compute k1:abc Variant(algorithm_version=1, params_fingerprint='f00')"


def test_a_diagram_keeps_the_key_that_notes_refer_to() -> None:
    figure = Figure(FigureKind.PICTURE, "0123456789abcdef0123", width_px=1, height_px=1)
    assert _diagram_key(3, figure, 1) == "p3-0123456789abcdef"
    assert _diagram_key(3, figure, 2) == "p3-0123456789abcdef-2"
