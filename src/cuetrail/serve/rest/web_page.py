"""The web page: its files at `/` and `/page`, built from `web/`, and the route `/view` of the data it reads (`views`).

The files are read once and served by name, so a request cannot name a path on the disk.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from cuetrail.serve.rest.middleware import VERB_KEY
from cuetrail.serve.rest.problem_details import Problem
from cuetrail.serve.rest.requests import json_arguments
from cuetrail.serve.rest.views.registry import VIEWS
from cuetrail.serve.tool import checked_arguments

if TYPE_CHECKING:
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
    """Returns a file of the page; if it is not built, the index explains how to build it. Raises Problem for an unknown
    name.
    """
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


# --- routes


def page_routes(service: Service) -> list[Route]:
    """Returns the routes of the page. Its files contain no memories, so they need no token; its views do."""
    files = load_files()

    async def page(request: Request) -> Response:
        request.scope[VERB_KEY] = "page"
        return file_response(files, request.path_params.get("name", INDEX))

    async def view(request: Request) -> Response:
        name = request.path_params["view"]
        found = VIEWS.get(name)
        if found is None:
            raise Problem(404, f"there is no view {name!r:.60}: there are {', '.join(VIEWS)}")
        request.scope[VERB_KEY] = "view"
        scope = await service.authorize(request, "read")
        arguments = checked_arguments(found.tool, await json_arguments(request, service.rules))
        # Only a person at this machine may see its paths.
        local = not service.rules.tokens_required
        return await service.respond("view", scope, lambda memory: found.read(memory, arguments, local))

    return [
        Route("/", page, methods=["GET"]),
        Route("/page/{name}", page, methods=["GET"]),
        Route("/view/{view}", view, methods=["POST"]),
    ]
