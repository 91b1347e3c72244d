from sqlalchemy import delete, func, text

from muniment.accounts.tables import SignInLink, SignInSession
from muniment.storage.db.organizations import list_organizations
from muniment.storage.db.principal import Service
from muniment.storage.db.work import Database


async def forget_expired(database: Database) -> None:
    """Sessions, links and old failures that no longer mean anything. Tokens stay listed until they are revoked."""
    for organization_id in await list_organizations(database):
        async with database.service_work(Service(organization_id)) as work:
            await work.session.execute(delete(SignInSession).where(SignInSession.expires_at < func.now()))
            await work.session.execute(delete(SignInLink).where(SignInLink.expires_at < func.now()))
    async with database.service_work(Service()) as work:
        await work.session.execute(text("SELECT forget_old_sign_in_failures()"))
