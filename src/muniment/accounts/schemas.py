from datetime import datetime, timedelta
from typing import Annotated
from uuid import UUID

from fastapi import Query
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

# No control characters, line separators or direction marks: a name is one line and reads as it is stored.
Name = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True,
        min_length=1,
        max_length=200,
        pattern=r"^[^\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+$",
    ),
]
# PostgreSQL can store every character but NUL.
Email = Annotated[str, StringConstraints(strip_whitespace=True, min_length=3, max_length=254, pattern=r"^[^\x00]*$")]
SearchText = Annotated[str, Query(max_length=200, pattern=r"^[^\x00]*$")]
Password = Annotated[str, StringConstraints(min_length=1, max_length=1024)]


class LoginRequest(BaseModel):
    email: Email
    password: Password
    organization_id: UUID | None = None


class OrganizationChoice(BaseModel):
    id: UUID
    name: str


class SeveralOrganizationsBody(BaseModel):
    """409: the email and password are right in each of these organizations."""

    detail: str
    organizations: list[OrganizationChoice]


class RedeemRequest(BaseModel):
    token: Annotated[str, StringConstraints(min_length=1, max_length=200)]


class PasswordRequest(BaseModel):
    new_password: Password
    current_password: Password | None = None
    revoke_tokens: bool = True
    """Whether the API tokens of the account are revoked too."""


class Me(BaseModel):
    id: UUID
    email: str
    organization_id: UUID
    organization_name: str
    is_admin: bool
    is_operator: bool
    has_password: bool


class TokenRequest(BaseModel):
    name: Name
    expires_at: AwareDatetime | None = None
    expires_in_days: Annotated[int, Field(ge=1, le=3650)] = 90

    def expiry(self, now: datetime) -> datetime:
        return self.expires_at or now + timedelta(days=self.expires_in_days)


class TokenRead(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    id: UUID
    name: str
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None


class TokenCreatedRead(BaseModel):
    id: UUID
    name: str
    token: str
    expires_at: datetime


class OrganizationRequest(BaseModel):
    name: Name


class OrganizationRead(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    id: UUID
    name: str
    created_at: datetime


class UserRequest(BaseModel):
    email: Email
    password: Password
    organization_id: UUID | None = None
    is_admin: bool = False
    is_operator: bool = False


class UserPatch(BaseModel):
    email: Email | None = None
    password: Password | None = None
    is_admin: bool | None = None
    is_operator: bool | None = None
    is_active: bool | None = None
    revoke_tokens: bool | None = None
    """Whether a new password revokes the user's API tokens too, as it does unless this is false. Deactivating does."""

    def changes(self) -> dict[str, object]:
        given = self.model_dump(exclude_unset=True, exclude={"password", "revoke_tokens"})
        return {name: value for name, value in given.items() if value is not None}


class UserRead(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    id: UUID
    organization_id: UUID
    email: str
    is_admin: bool
    is_operator: bool
    is_active: bool
    created_at: datetime
