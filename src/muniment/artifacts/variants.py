"""Which way of computing a result came from. A variant that changes makes new artifacts and overwrites none."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

ALGORITHM_VERSION = 1
"""Raised when our own code reads differently; everything else that changes a result goes into the fingerprint."""


@dataclass(frozen=True)
class Variant:
    algorithm_version: int
    params_fingerprint: str


def fingerprint(parameters: Mapping[str, Any]) -> str:
    """The same for equal parameters, in whatever order and on whatever machine they were put together."""
    canonical = json.dumps(parameters, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def reading_variant(parameters: Mapping[str, Any]) -> Variant:
    """Of text, pages, paragraphs and diagrams: the readers' versions and everything they were told."""
    return Variant(ALGORITHM_VERSION, fingerprint({"reading": parameters}))
