"""Record which versions of Muniment can work with the present tables.

`migrations/env.py` adds one row per migration. A migration that processes of the previous version cannot work with
sets `compatible_from` to its own revision; every other one inherits the value of its predecessor.
"""

from alembic import op

from muniment.migrations.policies import grant_execute

revision = "0027"
down_revision = "0026"
# Earlier versions accept only their own tables.
compatible_from = revision


def upgrade() -> None:
    op.execute(
        """
        CREATE TABLE schema_compatibility (
            position integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            version text NOT NULL UNIQUE,
            compatible_from text NOT NULL REFERENCES schema_compatibility (version)
        );
        GRANT SELECT ON schema_compatibility TO muniment_app, muniment_service;

        CREATE FUNCTION schema_accepts_version(p_version text) RETURNS boolean LANGUAGE sql STABLE AS $function$
            SELECT EXISTS (
                SELECT FROM schema_compatibility asking, schema_compatibility oldest
                 WHERE asking.version = p_version AND asking.position >= oldest.position
                   AND oldest.version = (SELECT compatible_from FROM schema_compatibility
                                          ORDER BY position DESC LIMIT 1))
        $function$;
        """
    )
    grant_execute("schema_accepts_version(text)", "muniment_app", "muniment_service")


def downgrade() -> None:
    op.execute("DROP FUNCTION schema_accepts_version(text); DROP TABLE schema_compatibility")
