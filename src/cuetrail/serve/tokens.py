"""Tokens: who may use a memory over the network, as whom, and for what. Only a hash of each is kept.

A token is `ct_ID_SECRET`. The secret has 256 random bits, so a plain hash of it tells nobody anything.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from cuetrail.errors import InputError, NotFound
from cuetrail.model import Scope

if TYPE_CHECKING:
    from cuetrail.memory import Memory

Access = Literal["read", "write", "admin"]
ACCESS: tuple[Access, ...] = get_args(Access)
"""From less to more. Only an admin may use what concerns everybody's memories."""

_KEPT = "token:"
_TOKEN = re.compile(r"ct_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")


@dataclass(frozen=True, slots=True)
class Token:
    """What a token allows. `id` is no secret; it names the token where it is revoked and in logs."""

    id: str
    name: str
    access: Access
    scope: Scope
    created: int

    def may(self, needed: Access) -> bool:
        """Whether it allows this much."""
        return ACCESS.index(self.access) >= ACCESS.index(needed)


def issue(memory: Memory, name: str, access: Access, scope: Scope, now: int) -> tuple[Token, str]:
    """Make a token; it comes back with its text, which is shown once and kept nowhere."""
    if access not in ACCESS:
        raise InputError(f"access must be {' or '.join(ACCESS)}, not {access!r:.40}")
    token = Token(secrets.token_hex(6), name, access, scope, now)
    secret = secrets.token_urlsafe(32)
    kept = {
        "hash": _hash(secret), "name": name, "access": access, "created": now, "tenant": scope.tenant,
        "user": scope.user, "teams": list(scope.teams), "share": scope.share,
    }  # fmt: skip
    memory.store.keep(_KEPT + token.id, json.dumps(kept))
    return token, f"ct_{token.id}_{secret}"


def tokens(memory: Memory) -> list[Token]:
    """All tokens of a memory, the oldest first."""
    found = memory.store.kept(_KEPT)
    made = [_read(name.removeprefix(_KEPT), json.loads(value)) for name, value in found.items()]
    return sorted(made, key=lambda token: (token.created, token.id))


def revoke(memory: Memory, id_: str) -> None:
    """End a token, given by id. Raises NotFound."""
    if not id_ or _KEPT + id_ not in memory.store.kept(_KEPT + id_):
        raise NotFound(f"there is no token {id_!r:.40}: `cuetrail token list` shows them")
    memory.store.keep(_KEPT + id_, None)


def find(memory: Memory, text: str) -> Token | None:
    """The token with this text, None if there is none."""
    parts = _TOKEN.fullmatch(text)
    if parts is None:
        return None
    kept = memory.store.kept(_KEPT + parts[1]).get(_KEPT + parts[1])
    row = json.loads(kept) if kept is not None else {"hash": ""}
    # As long for a token that is nearly right, or not there, as for one that is right.
    same = hmac.compare_digest(_hash(parts[2]), row["hash"])
    return _read(parts[1], row) if same else None


def _read(id_: str, row: dict[str, object]) -> Token:
    teams = row["teams"]
    share = row["share"]
    scope = Scope(
        str(row["tenant"]), str(row["user"]), tuple(map(str, teams)) if isinstance(teams, list) else (),
        str(share) if share is not None else None,
    )  # fmt: skip
    access: Access = "admin" if row["access"] == "admin" else "write" if row["access"] == "write" else "read"
    return Token(id_, str(row["name"]), access, scope, int(str(row["created"])))


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
