"""The alert rules in `deploy/alerts` fire when they should, and use metrics that exist."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from muniment.handover.archiver.monitoring import ArchiverMetrics as ArchiverMetrics
from muniment.lifecycle.observability import OPERATIONS, OperationStatus
from muniment.telemetry import metrics

ROOT = Path(__file__).parents[2]
RULES = ROOT / "deploy" / "alerts" / "muniment.yml"
EXPRESSIONS = re.findall(r"expr: (?:\|\n((?: {10,}.*\n)+)|(.*)\n)", RULES.read_text())
ALERTS = re.findall(r"alert: (\w+)", RULES.read_text())


def promtool() -> str:
    found = shutil.which("promtool") or shutil.which("promtool", path=str(Path(sys.prefix) / "bin"))
    assert found, "promtool is missing: `tools/setup dev` unpacks it where there is apt-get, else put it on the PATH"
    return found


def asked_for() -> set[str]:
    return set(re.findall(r"\b(?:muniment|archive)_\w+", " ".join(block + line for block, line in EXPRESSIONS)))


def shown() -> set[str]:
    # A metric with labels shows its name from the first label on.
    metrics.RECONCILE_DRIFT.set({("vectors", "orphan"): 0})
    metrics.JOBS.labels("deletions.carry_out", "ok")
    families = [
        *text_string_to_metric_families(metrics.render()[0].decode()),
        *ArchiverMetrics().registry.collect(),
    ]
    return {sample.name for family in families for sample in family.samples}


@pytest.mark.parametrize("cases", sorted(RULES.parent.glob("tests/*.yml")), ids=lambda path: path.stem)
def test_each_alert_rings_for_what_it_should_and_for_nothing_else(cases: Path) -> None:
    ran = subprocess.run([promtool(), "test", "rules", cases.name], cwd=cases.parent, capture_output=True, text=True)

    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_rules_ask_for_metrics_that_muniment_shows() -> None:
    assert len(EXPRESSIONS) == len(ALERTS) > 0
    assert asked_for() <= shown()


def test_the_bucket_and_the_labels_of_the_lifecycle_alerts_are_shown_from_the_start() -> None:
    name = "muniment_lifecycle_operation_duration_seconds"
    bucket = {"operation": "purge", "status": "success", "le": "10.0"}

    assert metrics.REGISTRY.get_sample_value(f"{name}_bucket", bucket) is not None
    for operation in OPERATIONS:
        for status in (OperationStatus.SUCCESS, OperationStatus.PENDING, OperationStatus.ERROR):
            labels = {"operation": operation, "status": status.value}
            assert metrics.REGISTRY.get_sample_value(f"{name}_count", labels) is not None


@pytest.mark.parametrize("alert", ALERTS)
def test_every_alert_is_in_the_guide_with_what_to_type(alert: str) -> None:
    rows = re.findall(rf"^\| `{alert}` \|.*$", (ROOT / "docs" / "guide" / "operator.md").read_text(), re.MULTILINE)

    assert len(rows) == 1
    assert "`muniment " in rows[0].split("|")[-2]
