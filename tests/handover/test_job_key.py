from uuid import UUID, uuid4

import pytest

from muniment.handover.job_key import JobKey, to_hyphens, to_underscores

ORGANIZATION = UUID("550e8400-e29b-41d4-a716-446655440000")
SHA256 = "ab" * 32


def test_pdf_and_sidecar_lie_where_the_specification_says() -> None:
    key = JobKey(ORGANIZATION, "care-plan", SHA256)

    assert key.pdf == f"org/550e8400-e29b-41d4-a716-446655440000/care-plan/{SHA256}.pdf"
    assert key.sidecar == f"org/550e8400-e29b-41d4-a716-446655440000/care-plan/{SHA256}.meta.json"


def test_either_key_leads_back_to_the_job() -> None:
    key = JobKey(uuid4(), "incident-report", SHA256)

    assert JobKey.parse(key.pdf) == JobKey.parse(key.sidecar) == JobKey.parse(key.pdf.removesuffix(".pdf")) == key


@pytest.mark.parametrize(
    "key",
    [
        "",
        "lease",
        f"org/{ORGANIZATION}/invoice/{SHA256}.txt",
        f"org/{ORGANIZATION}/invoice/{SHA256}.pdf.pdf",
        f"org/{ORGANIZATION}/invoice/{SHA256.upper()}.pdf",
        f"org/{ORGANIZATION}/invoice/{SHA256[:-1]}.pdf",
        f"org/{ORGANIZATION}/care_plan/{SHA256}.pdf",
        f"org/{ORGANIZATION}/Invoice/{SHA256}.pdf",
        f"org/{ORGANIZATION}/{'a' * 51}/{SHA256}.pdf",
        f"org/{ORGANIZATION}/a/../b/{SHA256}.pdf",
        f"org/{str(ORGANIZATION).upper()}/invoice/{SHA256}.pdf",
        f"org/{ORGANIZATION}/invoice/{SHA256}.pdf\n",
        f"other/{ORGANIZATION}/invoice/{SHA256}.pdf",
    ],
)
def test_what_is_no_key_of_a_job_is_none(key: str) -> None:
    assert JobKey.parse(key) is None


def test_a_key_cannot_be_made_of_anything_else() -> None:
    with pytest.raises(ValueError, match="type"):
        JobKey(ORGANIZATION, "../x", SHA256)
    with pytest.raises(ValueError, match="SHA-256"):
        JobKey(ORGANIZATION, "invoice", "../x")


def test_types_have_underscores_here_and_hyphens_there() -> None:
    assert to_hyphens("incident_report") == "incident-report"
    assert to_underscores("incident-report") == "incident_report"
