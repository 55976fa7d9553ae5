"""Access to the server: issues, lists, revokes and checks tokens, and checks the Host and Origin headers.

A token is `ct_ID_SECRET`. Only a hash of it is stored; the secret has 256 random bits, so the hash does not reveal it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args
from urllib.parse import urlsplit

from starlette.requests import Request

from cuetrail.errors import InputError, NotFound
from cuetrail.model import Scope
from cuetrail.serve.rest.problem_details import Problem
from cuetrail.serve.rest.requests import LOOPBACK, RequestRules
from cuetrail.text.timestamps import now_ms

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.serve.memory_access import LazyMemory

Access = Literal["read", "write", "admin"]
ACCESS: tuple[Access, ...] = get_args(Access)
"""From least to most. Verbs that concern the memories of all users need admin."""

_PREFIX = "token:"
_TOKEN = re.compile(r"ct_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")


@dataclass(frozen=True, slots=True)
class Token:
    """The rights of a token. `id` is not secret: it names the token in logs and when it is revoked."""

    id: str
    name: str
    access: Access
    scope: Scope
    created: int
    expires: int | None = None

    def allows(self, needed: Access) -> bool:
        """True if the token grants at least this access."""
        return ACCESS.index(self.access) >= ACCESS.index(needed)

    def has_expired(self, now: int) -> bool:
        """True if the token's time is over."""
        return self.expires is not None and self.expires <= now


def issue(
    memory: Memory, name: str, access: Access, scope: Scope, now: int, expires: int | None = None
) -> tuple[Token, str]:
    """Makes a token and returns it with its text, which is not stored. Raises InputError for an unknown access."""
    if access not in ACCESS:
        raise InputError(f"access must be {' or '.join(ACCESS)}, not {access!r:.40}")
    token = Token(secrets.token_hex(6), name, access, scope, now, expires)
    secret = secrets.token_urlsafe(32)
    record = {
        "hash": _hash(secret), "name": name, "access": access, "created": now, "expires": expires,
        "tenant": scope.tenant, "user": scope.user, "teams": list(scope.teams), "share": scope.share,
    }  # fmt: skip
    memory.store.settings[_PREFIX + token.id] = json.dumps(record)
    return token, f"ct_{token.id}_{secret}"


def tokens(memory: Memory) -> list[Token]:
    """Returns all tokens of a memory, oldest first."""
    found = memory.store.settings.beginning_with(_PREFIX)
    made = [_read(name.removeprefix(_PREFIX), json.loads(value)) for name, value in found.items()]
    return sorted(made, key=lambda token: (token.created, token.id))


def revoke(memory: Memory, id_: str) -> None:
    """Deletes the token with this id. Raises NotFound."""
    if not id_ or _PREFIX + id_ not in memory.store.settings:
        raise NotFound(f"there is no token {id_!r:.40}: `cuetrail token list` shows them")
    del memory.store.settings[_PREFIX + id_]


def find(memory: Memory, text: str) -> Token | None:
    """Returns the token with this text, or None."""
    parts = _TOKEN.fullmatch(text)
    if parts is None:
        return None
    stored = memory.store.settings.get(_PREFIX + parts[1])
    row = json.loads(stored) if stored is not None else {"hash": ""}
    # The comparison takes the same time for a wrong, an unknown and a right token.
    same = hmac.compare_digest(_hash(parts[2]), row["hash"])
    return _read(parts[1], row) if same else None


def _read(id_: str, row: dict[str, Any]) -> Token:
    scope = Scope(row["tenant"], row["user"], tuple(row["teams"]), row["share"])
    return Token(id_, row["name"], row["access"], scope, row["created"], row.get("expires"))


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


TOKEN_KEY = "cuetrail.token"
"""The key of an ASGI scope under which the id of the request's token is stored."""


async def authorize(request: Request, memory: LazyMemory, rules: RequestRules, needed: Access) -> Scope | None:
    """Returns the scope of the request's token; None if none was sent and the server asks for none.

    Raises Problem for a missing, unknown or expired token, or one that does not allow what is `needed`.
    """
    text = _sent_token(request)
    if not text:
        if rules.tokens_required or await memory.run_quick(lambda opened: bool(tokens(opened))):
            raise Problem(401, "send a token, `Authorization: Bearer ct_...`; `cuetrail token add` makes one")
        return None
    token: Token | None = await memory.run_quick(lambda opened: find(opened, text))
    if token is None:
        raise Problem(401, "this token is not known here: `cuetrail token list` shows which are")
    if token.has_expired(now_ms()):
        raise Problem(401, "this token has expired: `cuetrail token add` makes another")
    request.scope[TOKEN_KEY], request.state.access = token.id, token.access
    if not token.allows(needed):
        raise Problem(403, f"this token may only {token.access}; this needs one that may {needed}")
    return token.scope


def _sent_token(request: Request) -> str:
    """Returns the token sent as `Bearer`, as mem0's `Token`, or as `X-API-Key`; "" if there is none."""
    kind, _, text = request.headers.get("authorization", "").partition(" ")
    if not text:
        return request.headers.get("x-api-key", "").strip() or kind
    return text.strip() if kind.lower() in ("bearer", "token") else "?"


def check_host_and_origin(request: Request, hosts: tuple[str, ...]) -> None:
    """Raises Problem for a foreign Host header (DNS rebinding) or a request from a page of another site."""
    sent = request.headers.getlist("host")
    host = _hostname(f"//{sent[0]}") if len(sent) == 1 else ""
    if host not in hosts:
        raise Problem(
            421, f"this server is not called {host or '(no Host)':.80}: `cuetrail serve --allow-host` names it"
        )
    origin = request.headers.get("origin")
    if origin is not None and not _is_own_origin(origin, request.headers.get("host", ""), hosts):
        raise Problem(403, "pages of other sites may not use this memory")


def _is_own_origin(origin: str, host: str, hosts: tuple[str, ...]) -> bool:
    """True if this server delivered the page. On localhost the ports must match: each may be another server."""
    name = _hostname(origin)
    return name in hosts and (name not in LOOPBACK or _port(origin) == _port(f"{origin.partition(':')[0]}://{host}"))


def _port(url: str) -> int | None:
    try:
        parts = urlsplit(url)
        return parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return None


def _hostname(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""
