"""The address of a PostgreSQL server, in place of the folder that a bank is kept in."""

from __future__ import annotations

import re

_SERVER = re.compile(r"postgres(?:ql)?://", re.IGNORECASE)
_SECRETS = (
    (re.compile(r"(?<=://)([^:@/?#]*):[^@/?#]*(?=@)"), r"\1:***"),
    (re.compile(r"(?<=[?&]password=)[^&#]*", re.IGNORECASE), "***"),
)


class ServerAddress:
    """Where a PostgreSQL database is: shown without its password wherever it is shown.

    Attributes:
        dsn: the address as it was given, as libpq takes it. It may hold a password.
    """

    __slots__ = ("dsn",)

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn

    @classmethod
    def of(cls, root: object) -> ServerAddress | None:
        """Return the address that a root is, if it is one."""
        if isinstance(root, ServerAddress):
            return root
        return cls(root) if isinstance(root, str) and _SERVER.match(root) else None

    def __str__(self) -> str:
        shown = self.dsn
        for secret, instead in _SECRETS:
            shown = secret.sub(instead, shown)
        return shown

    def __repr__(self) -> str:
        return f"ServerAddress({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ServerAddress) and other.dsn == self.dsn

    def __hash__(self) -> int:
        return hash(self.dsn)
