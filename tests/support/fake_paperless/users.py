"""Users of the server. The archiver has exactly the permissions that the operator guide recommends."""

from dataclasses import dataclass

_REFERENCES = ("tag", "correspondent", "documenttype", "customfield")
_KINDS = ("document", *_REFERENCES, "storagepath", "paperlesstask")


@dataclass(frozen=True)
class User:
    id: int
    name: str
    token: str
    permissions: frozenset[str] = frozenset()
    is_superuser: bool = False
    password: str = "secret"

    def may(self, permission: str) -> bool:
        return self.is_superuser or permission in self.permissions


ARCHIVER_PERMISSIONS = frozenset(
    {f"{verb}_{kind}" for verb in ("add", "view") for kind in ("document", *_REFERENCES)}
    | {"change_document", "delete_document", "view_paperlesstask"}
)
EVERYTHING = frozenset(f"{verb}_{kind}" for verb in ("add", "view", "change", "delete") for kind in _KINDS)

ADMIN = User(1, "admin", "a" * 40, is_superuser=True)
ARCHIVER = User(2, "archiver", "b" * 40, ARCHIVER_PERMISSIONS)
COLLEAGUE = User(3, "colleague", "c" * 40, EVERYTHING)
UPLOADER = User(4, "uploader", "d" * 40, frozenset({"add_document"}))
WITHOUT_TASKS = User(5, "without-tasks", "e" * 40, ARCHIVER_PERMISSIONS - {"view_paperlesstask"})
READER = User(
    6, "reader", "f" * 40, frozenset({"view_document", "view_tag", "view_correspondent", "view_paperlesstask"})
)
USERS = (ADMIN, ARCHIVER, COLLEAGUE, UPLOADER, WITHOUT_TASKS, READER)
