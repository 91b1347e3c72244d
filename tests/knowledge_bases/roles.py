"""Users with every possible relation to one knowledge base."""

from dataclasses import dataclass
from uuid import UUID

from tests.support.seed import Person, Seed


@dataclass(frozen=True)
class Roles:
    kb_id: UUID
    owner: Person
    admin: Person
    editor: Person
    viewer: Person
    colleague: Person
    """In the organization, without a role in the knowledge base."""
    stranger: Person
    """An admin and operator of another organization."""

    @property
    def path(self) -> str:
        return f"/api/v1/knowledge-bases/{self.kb_id}"

    def member(self, person: Person) -> str:
        return f"{self.path}/members/{person.id}"

    @property
    def by_access_level(self) -> list[tuple[Person, int]]:
        """Return users with the status that a change by them gets; 200 means success."""
        return [
            (self.stranger, 404),
            (self.colleague, 404),
            (self.viewer, 403),
            (self.editor, 403),
            (self.admin, 200),
            (self.owner, 200),
        ]


def create_roles(seed: Seed) -> Roles:
    owner = seed.person()
    kb_id = seed.knowledge_base(owner)
    admin = seed.person(owner.organization_id, is_admin=True)
    editor, viewer, colleague = (seed.person(owner.organization_id) for _ in range(3))
    seed.member(kb_id, editor, "editor")
    seed.member(kb_id, viewer, "viewer")
    return Roles(kb_id, owner, admin, editor, viewer, colleague, seed.person(is_admin=True, is_operator=True))
