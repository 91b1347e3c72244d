from uuid import UUID

from fastapi import APIRouter, Request, Response

from muniment.accounts import schemas, sign_in, users
from muniment.accounts.repository import OrganizationRepository, TokenRepository, UserRepository
from muniment.accounts.sign_in import OpenedSession, set_password, sign_out
from muniment.http.dependencies import (
    ClientAddress,
    CurrentPrincipal,
    CurrentServices,
    CurrentWork,
    Now,
    clear_session_cookie,
    is_signed_in_by_session,
    require_still_signed_in,
    session_secret,
    set_session_cookie,
)
from muniment.http.pagination import PaginatedRead, Paging
from muniment.http.services import Services
from muniment.storage.db.principal import Principal

auth_router = APIRouter(prefix="/auth", tags=["sign-in"])
organizations_router = APIRouter(prefix="/organizations", tags=["people"])
users_router = APIRouter(prefix="/users", tags=["people"])


@auth_router.post("/login", responses={409: {"model": schemas.SeveralOrganizationsBody}})
async def login(
    credentials: schemas.LoginRequest, response: Response, services: CurrentServices, address: ClientAddress, now: Now
) -> schemas.Me:
    """Sign in. If the email and password are right in several organizations, `organization_id` chooses one of them."""
    opened = await services.sign_in.with_password(
        credentials.email,
        credentials.password,
        organization_id=credentials.organization_id,
        address=address,
        now=now,
    )
    return await _start_session(opened, response, services)


@auth_router.post("/redeem")
async def redeem(
    link: schemas.RedeemRequest, response: Response, services: CurrentServices, address: ClientAddress, now: Now
) -> schemas.Me:
    """Sign in with the one-time link that `make serve` prints."""
    opened = await services.sign_in.with_link(link.token, address=address, now=now)
    return await _start_session(opened, response, services)


async def _start_session(opened: OpenedSession, response: Response, services: Services) -> schemas.Me:
    set_session_cookie(response, opened.secret, expires_at=opened.expires_at, secure=services.secure_cookies)
    return await _me(opened.principal, services)


@auth_router.post("/logout", status_code=204)
async def logout(request: Request, response: Response, work: CurrentWork, services: CurrentServices) -> None:
    if secret := session_secret(request):
        await sign_out(work, secret)
    clear_session_cookie(response, secure=services.secure_cookies)


@auth_router.get("/me")
async def me(principal: CurrentPrincipal, services: CurrentServices) -> schemas.Me:
    return await _me(principal, services)


async def _me(principal: Principal, services: Services) -> schemas.Me:
    async with services.database.work(principal) as work:
        user = await UserRepository(work.session).get(principal.user_id)
        has_password = await UserRepository(work.session).has_own_password()
        organization = await OrganizationRepository(work.session).get(principal.organization_id)
    return schemas.Me(
        id=user.id,
        email=user.email,
        organization_id=organization.id,
        organization_name=organization.name,
        is_admin=user.is_admin,
        is_operator=user.is_operator,
        has_password=has_password,
    )


@auth_router.put("/password", status_code=204)
async def change_own_password(
    change: schemas.PasswordRequest, request: Request, principal: CurrentPrincipal, services: CurrentServices
) -> None:
    """Set the first password, or change it with the current one. Other sessions of the account end.

    Its API tokens are revoked unless `revoke_tokens` is false.
    """
    await services.sign_in.confirm_password(
        principal, change.current_password, has_session=is_signed_in_by_session(request)
    )
    password_hash = await services.passwords.hash(change.new_password)
    async with services.database.work(principal) as work:
        await UserRepository(work.session).lock_credentials(principal.user_id)
        await require_still_signed_in(request, work)
        await set_password(
            work, password_hash, current_session=session_secret(request), revoke_tokens=change.revoke_tokens
        )


@auth_router.post("/tokens", status_code=201)
async def create_token(
    body: schemas.TokenRequest, request: Request, work: CurrentWork, now: Now
) -> schemas.TokenCreatedRead:
    """Create a token with your own access. It is shown only once."""
    await UserRepository(work.session).hold_credentials(work.caller.user_id)
    await require_still_signed_in(request, work)
    new = await sign_in.create_token(work, body.name, expires_at=body.expiry(now), now=now)
    return schemas.TokenCreatedRead(
        id=new.token.id, name=new.token.name, token=new.secret, expires_at=new.token.expires_at
    )


@auth_router.get("/tokens")
async def list_tokens(work: CurrentWork, paging: Paging) -> PaginatedRead[schemas.TokenRead]:
    found, total = await TokenRepository(work.session).list_(offset=paging.offset, limit=paging.limit)
    items = [schemas.TokenRead.model_validate(token) for token in found]
    return PaginatedRead(items=items, total=total, page=paging.page, limit=paging.limit)


@auth_router.delete("/tokens/{token_id}", status_code=204)
async def revoke_token(token_id: UUID, work: CurrentWork) -> None:
    await sign_in.revoke_token(work, token_id)


@organizations_router.post("", status_code=201)
async def create_organization(body: schemas.OrganizationRequest, work: CurrentWork) -> schemas.OrganizationRead:
    return schemas.OrganizationRead.model_validate(await users.create_organization(work, body.name))


@organizations_router.get("")
async def list_organizations(work: CurrentWork, paging: Paging) -> PaginatedRead[schemas.OrganizationRead]:
    users.require_operator(work.caller)
    found, total = await OrganizationRepository(work.session).list_(offset=paging.offset, limit=paging.limit)
    items = [schemas.OrganizationRead.model_validate(organization) for organization in found]
    return PaginatedRead(items=items, total=total, page=paging.page, limit=paging.limit)


@organizations_router.patch("/{organization_id}")
async def rename_organization(
    organization_id: UUID, body: schemas.OrganizationRequest, work: CurrentWork
) -> schemas.OrganizationRead:
    changed = await users.rename_organization(work, organization_id, body.name)
    return schemas.OrganizationRead.model_validate(changed)


@users_router.post("", status_code=201)
async def create_user(
    body: schemas.UserRequest, services: CurrentServices, principal: CurrentPrincipal
) -> schemas.UserRead:
    users.require_manager(principal)  # before the expensive hash
    new = users.NewUser(
        email=body.email,
        password_hash=await services.passwords.hash(body.password),
        organization_id=body.organization_id,
        is_admin=body.is_admin,
        is_operator=body.is_operator,
    )
    async with services.database.work(principal) as work:
        return schemas.UserRead.model_validate(await users.create_user(work, new))


@users_router.get("")
async def list_users(
    work: CurrentWork, paging: Paging, organization_id: UUID | None = None, search: schemas.SearchText = ""
) -> PaginatedRead[schemas.UserRead]:
    """List users. Operators see all users, admins those of their organization."""
    users.require_manager(work.caller)
    found, total = await UserRepository(work.session).list_(
        organization_id=organization_id, search=search, offset=paging.offset, limit=paging.limit
    )
    items = [schemas.UserRead.model_validate(user) for user in found]
    return PaginatedRead(items=items, total=total, page=paging.page, limit=paging.limit)


@users_router.patch("/{user_id}")
async def change_user(
    user_id: UUID, body: schemas.UserPatch, services: CurrentServices, principal: CurrentPrincipal
) -> schemas.UserRead:
    users.require_manager(principal)
    password_hash = await services.passwords.hash(body.password) if body.password else None
    async with services.database.work(principal) as work:
        changed = await users.change_user(
            work, user_id, body.changes(), password_hash=password_hash, revoke_tokens=body.revoke_tokens is not False
        )
        return schemas.UserRead.model_validate(changed)
