"""Row level security in one vocabulary, used by the migrations.

`muniment_app` is decided by who asks (`app.user_id`), `muniment_service` by the organization that its job names
(`app.organization_id`). Whatever no policy allows is refused.
"""

from collections.abc import Iterable

from alembic import op

OF_SERVICE = "organization_id = app_service_organization_id()"


def protect(table: str, *, force: bool = True) -> None:
    """Switch row level security on; with `force` it binds the owner too."""
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    if force:
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")


def allow(
    role: str, table: str, command: str, *, using: str | None = None, check: str | None = None, columns: str = ""
) -> None:
    """Grant one command on a table, and say for which rows."""
    using_clause = f" USING ({using})" if using else ""
    check_clause = f" WITH CHECK ({check})" if check else ""
    op.execute(f"GRANT {command} {columns} ON {table} TO {role}")
    op.execute(f"CREATE POLICY {role}_{command.lower()} ON {table} FOR {command} TO {role}{using_clause}{check_clause}")


def allow_service(table: str, commands: Iterable[str] = ("SELECT", "INSERT", "UPDATE", "DELETE")) -> None:
    """The service login works within the organization of its job."""
    for command in commands:
        using = None if command == "INSERT" else OF_SERVICE
        check = OF_SERVICE if command in ("INSERT", "UPDATE") else None
        allow("muniment_service", table, command, using=using, check=check)


def allow_owner(table: str) -> None:
    """Definer functions run as the owner, whom FORCE binds: they need to see the rows that they decide about."""
    op.execute(f"CREATE POLICY owner_all ON {table} TO muniment_owner USING (true) WITH CHECK (true)")


def definer_function(
    signature: str, returns: str, body: str, *, language: str = "sql", volatility: str = "STABLE"
) -> None:
    """A function that runs with the owner's eyes; callable by the two logins only if `grant_execute` says so."""
    op.execute(
        f"CREATE FUNCTION {signature} RETURNS {returns} LANGUAGE {language} {volatility} SECURITY DEFINER "
        # A fixed path: a caller must not be able to slip in functions or tables of its own.
        f"SET search_path = pg_catalog, public, pg_temp AS $function$ {body} $function$"
    )


def grant_execute(function: str, *roles: str) -> None:
    op.execute(f"GRANT EXECUTE ON FUNCTION {function} TO {', '.join(roles)}")
