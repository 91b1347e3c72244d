"""Helpers for row level security in migrations.

Policies of `muniment_app` decide by the caller (`app.user_id`), those of `muniment_service` by the organization of its
job (`app.organization_id`). Anything that no policy allows is refused.
"""

from collections.abc import Iterable

from alembic import op

OF_SERVICE = "organization_id = app_service_organization_id()"


def protect(table: str, *, force: bool = True) -> None:
    """Enable row level security; with `force` it applies to the owner too."""
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    if force:
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")


def allow(
    role: str, table: str, command: str, *, using: str | None = None, check: str | None = None, columns: str = ""
) -> None:
    """Grant one command on a table, for the given rows."""
    using_clause = f" USING ({using})" if using else ""
    check_clause = f" WITH CHECK ({check})" if check else ""
    op.execute(f"GRANT {command} {columns} ON {table} TO {role}")
    op.execute(f"CREATE POLICY {role}_{command.lower()} ON {table} FOR {command} TO {role}{using_clause}{check_clause}")


def allow_service(table: str, commands: Iterable[str] = ("SELECT", "INSERT", "UPDATE", "DELETE")) -> None:
    """Allow the service login to work within the organization of its job."""
    for command in commands:
        using = None if command == "INSERT" else OF_SERVICE
        check = OF_SERVICE if command in ("INSERT", "UPDATE") else None
        allow("muniment_service", table, command, using=using, check=check)


def allow_owner(table: str) -> None:
    """Allow the owner, as whom definer functions run and to whom FORCE applies, to see the rows."""
    op.execute(f"CREATE POLICY owner_all ON {table} TO muniment_owner USING (true) WITH CHECK (true)")


def definer_function(
    signature: str, returns: str, body: str, *, language: str = "sql", volatility: str = "STABLE"
) -> None:
    """Create a function that runs as the owner; the two logins may call it only with `grant_execute`."""
    op.execute(
        f"CREATE FUNCTION {signature} RETURNS {returns} LANGUAGE {language} {volatility} SECURITY DEFINER "
        # A fixed path, so that callers cannot substitute their own functions or tables.
        f"SET search_path = pg_catalog, public, pg_temp AS $function$ {body} $function$"
    )


def grant_execute(function: str, *roles: str) -> None:
    op.execute(f"GRANT EXECUTE ON FUNCTION {function} TO {', '.join(roles)}")
