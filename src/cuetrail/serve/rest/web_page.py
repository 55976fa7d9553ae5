"""The web page: its files at `/` and `/page`, built from `web/`, and the route `/view` of the data it reads.

The files are read once and served by name, so a request cannot name a path on the disk.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from cuetrail.errors import InputError, NotFound
from cuetrail.serve.json_data import to_json_data
from cuetrail.serve.rest.middleware import VERB_KEY
from cuetrail.serve.rest.problem_details import Problem
from cuetrail.serve.rest.requests import json_arguments
from cuetrail.store.read import edges_by_id
from cuetrail.text.normalise import snippet
from cuetrail.text.timestamps import now_ms

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.model import Node
    from cuetrail.serve.rest.service import Service

STATIC = Path(__file__).parents[1] / "static"
"""The folder into which `make page` and the build of a wheel write the page. It is never committed."""

INDEX = "index.html"
_TYPES = {
    ".css": "text/css; charset=utf-8", ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8", ".woff2": "font/woff2",
}  # fmt: skip
_DENY_ALL = ("default-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'")
_OWN_FILES = (f"{kind}-src 'self'" for kind in ("script", "style", "font", "img", "connect", "worker"))
# With trusted types the browser refuses to turn the text of a note into markup or a script.
POLICY = "; ".join((*_DENY_ALL, *_OWN_FILES, "require-trusted-types-for 'script'", "trusted-types cuetrail"))
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
# The name of every file except the index contains a hash of its content.
_FOREVER = "public, max-age=31536000, immutable"

_STYLE = (
    ":root{color-scheme:light dark}body{font:1rem/1.6 system-ui,sans-serif;max-width:36rem;margin:15vh auto;"
    "padding:0 1.5rem}code{padding:.1em .35em;border-radius:.3em;background:rgb(128 128 128/.18)}"
)
_NOT_BUILT = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>cuetrail</title><style>{_STYLE}</style></head>
<body><main><h1>The page is not built yet</h1>
<p>The memory itself works: REST is at <code>/v1</code>, described by <a href="openapi.json">openapi.json</a>, and
agents use <code>/mcp</code>.</p>
<p>To build the page, install Node.js 20 or newer with npm (from nodejs.org, or <code>apt install nodejs npm</code>),
run <code>make page</code> in the clone of cuetrail, and start <code>cuetrail serve</code> again. Wheels have it built
in.</p>
</main></body></html>
"""


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file of the page with its media type."""

    body: bytes
    media_type: str


def load_files(folder: Path = STATIC) -> dict[str, StaticFile]:
    """Returns the files of the page by name; none if the page is not built."""
    found = {path.name: path for path in folder.glob("*") if path.suffix in _TYPES}
    if INDEX not in found:
        return {}
    return {name: StaticFile(path.read_bytes(), _TYPES[path.suffix]) for name, path in sorted(found.items())}


def file_response(files: Mapping[str, StaticFile], name: str) -> Response:
    """Returns a file of the page; if it is not built, the index explains how to build it. Raises Problem."""
    if name == INDEX and not files:
        return _not_built()
    if name not in files:
        raise Problem(404, f"the page has no file {name!r:.60}: load it again, it may be of another version")
    cached = "no-cache" if name == INDEX else _FOREVER
    headers = {**_HEADERS, "Content-Security-Policy": POLICY, "Cache-Control": cached}
    return Response(files[name].body, headers=headers, media_type=files[name].media_type)


def _not_built() -> Response:
    digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    policy = "; ".join((*_DENY_ALL, f"style-src 'sha256-{digest}'"))
    headers = {**_HEADERS, "Content-Security-Policy": policy, "Cache-Control": "no-store"}
    return Response(_NOT_BUILT, headers=headers, media_type=_TYPES[".html"])


# --- the data that the page reads and no single verb returns

EDGES, NOTES, PARAGRAPHS = 40, 50, 500
"""The most edges and notes of a node that are shown (strongest and newest first), and the most paragraphs of a file."""


def about(memory: Memory, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a node, given by id or name in `arguments["id"]`, with its edges, facts, notes and versions.

    Raises NotFound, and InputError without an id.
    """
    id_ = arguments.get("id")
    if not isinstance(id_, str):
        raise InputError('say of which memory: {"id": "..."}')
    node = memory.get(id_)
    if node is None:
        raise NotFound(f"there is no memory with the id or name {id_!r:.80} in this scope")
    return {
        "node": to_json_data(node),
        "mine": node.owner == memory.scope.user,
        "owner": node.owner,
        "team": node.team,
        "created": node.created,
        "updated": node.updated,
        "accesses": node.life.accesses,
        "confidence": node.life.confidence,
        "retention": node.life.retention,
        "labels": to_json_data(node.tag_details),
        "summary": str(node.props.get("summary") or ""),
        "contents": _contents(memory, node),
        **_edges(memory, node),
        "facts": _facts(memory, node),
        "history": to_json_data(memory.history(node.id)),
        "notes": to_json_data(memory.store.notes(memory.scope, [node.id], "node", now_ms(), NOTES).get(node.id, [])),
    }


def _edges(memory: Memory, node: Node) -> dict[str, Any]:
    """Returns the strongest edges of a node, each with a preview of the node at its other end."""
    near = memory.neighbours(node.id, EDGES)
    others = memory.nodes(*(one.id for one in near.neighbours))
    edges = edges_by_id(memory.store, memory.scope, [one.edge for one in near.neighbours])
    ties = [
        {
            "edge": one.edge, "kind": one.kind, "weight": one.weight, "tags": list(one.tags), "outgoing": one.outgoing,
            "type": edges[one.edge].type, "text": edges[one.edge].text, "node": _preview(others[one.id]),
        }
        for one in near.neighbours
        if one.id in others and one.edge in edges
    ]  # fmt: skip
    return {"degree": near.degree, "ties": ties}


def _contents(memory: Memory, node: Node) -> list[dict[str, str]]:
    """Returns the ids and texts of a file's passages in their order; [] for a node that is no file."""
    if node.kind != "source" or node.source is None:
        return []
    atoms = memory.store.atoms_of(memory.scope, [node.source]).get(node.source, [])
    return [{"id": one.id, "text": one.text} for one in sorted(atoms, key=lambda one: one.seq)[:PARAGRAPHS] if one.text]


def _facts(memory: Memory, node: Node) -> list[dict[str, Any]]:
    """Returns all facts ever stated about a node, with the titles of their objects."""
    facts = memory.fact_history(node.id)
    objects = memory.nodes(*(fact.object for fact in facts if fact.object is not None))
    titles = {id_: _preview(one)["title"] for id_, one in objects.items()}
    return [{**to_json_data(fact), "object_title": titles.get(fact.object or "")} for fact in facts]


def _preview(node: Node) -> dict[str, str]:
    return {"id": node.id, "kind": node.kind, "title": node.name or snippet(node.text, 90) or node.id}


VIEWS: dict[str, Callable[[Memory, Mapping[str, Any]], dict[str, Any]]] = {"about": about}
"""By name in `POST /view/NAME`."""


# --- routes


def page_routes(service: Service) -> list[Route]:
    """Returns the routes of the page. Its files contain no memories, so they need no token; its views do."""
    files = load_files()

    async def page(request: Request) -> Response:
        request.scope[VERB_KEY] = "page"
        return file_response(files, request.path_params.get("name", INDEX))

    async def view(request: Request) -> Response:
        name = request.path_params["view"]
        read = VIEWS.get(name)
        if read is None:
            raise Problem(404, f"there is no view {name!r:.60}: there are {', '.join(VIEWS)}")
        request.scope[VERB_KEY] = "view"
        scope = await service.authorize(request, "read")
        arguments = await json_arguments(request, service.rules)
        return await service.respond("view", scope, lambda memory: read(memory, arguments))

    return [
        Route("/", page, methods=["GET"]),
        Route("/page/{name}", page, methods=["GET"]),
        Route("/view/{view}", view, methods=["POST"]),
    ]
