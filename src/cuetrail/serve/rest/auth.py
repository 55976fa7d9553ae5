"""Checks who sends a request: the Host and Origin headers, and the token."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.requests import Request

from cuetrail.serve.rest.limits import LOOPBACK, RequestRules
from cuetrail.serve.rest.problems import Problem
from cuetrail.serve.tokens import Access, Token, find, tokens

if TYPE_CHECKING:
    from cuetrail.model import Scope
    from cuetrail.serve.lazy_memory import LazyMemory

TOKEN_KEY = "cuetrail.token"
"""The key of an ASGI scope under which the id of the request's token is stored."""


async def authorize(request: Request, memory: LazyMemory, rules: RequestRules, needed: Access) -> Scope | None:
    """Returns the scope of the request's token, or None for a request that needs no token. Raises Problem."""
    text = _sent_token(request)
    if not text:
        if rules.tokens_required or await memory.run_quick(lambda opened: bool(tokens(opened))):
            raise Problem(401, "send a token, `Authorization: Bearer ct_...`; `cuetrail token add` makes one")
        return None
    token: Token | None = await memory.run_quick(lambda opened: find(opened, text))
    if token is None:
        raise Problem(401, "this token is not known here: `cuetrail token list` shows which are")
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
