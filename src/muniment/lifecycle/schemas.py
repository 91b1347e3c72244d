from pydantic import BaseModel, ConfigDict, Field


class RetryWish(BaseModel):
    """What a person asks for when a document is to be read again."""

    model_config = ConfigDict(extra="forbid")

    force: bool = Field(default=False, description="Take the results anew although the document shows them already")
    algorithm_version: int | None = Field(
        default=None, ge=1, le=2**31 - 1, description="Another version of the reader than the newest"
    )
