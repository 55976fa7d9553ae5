"""The page for people at `/`: the files built from `web/`, and nothing else of this machine.

The files are read once and served by name, so no path that a request names ever reaches the disk.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from starlette.responses import Response

from cuetrail.serve.rest.problems import Problem

STATIC = Path(__file__).parents[1] / "static"
"""Where `make page` and the building of a wheel put the page. It is never committed."""

INDEX = "index.html"
_TYPES = {
    ".css": "text/css; charset=utf-8", ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8", ".woff2": "font/woff2",
}  # fmt: skip
_NOWHERE = ("default-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'")
POLICY = "; ".join(
    (
        *_NOWHERE,
        "script-src 'self'",
        "style-src 'self'",
        "font-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "worker-src 'self'",
        # What a note says can then not become markup or a script by any mistake of ours: the browser refuses.
        "require-trusted-types-for 'script'",
        "trusted-types cuetrail",
    )
)
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
# The names of all files but this one change with what is in them.
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
class File:
    """A file of the page."""

    body: bytes
    kind: str


def load(folder: Path = STATIC) -> dict[str, File]:
    """The files of the page by name; none where it is not built."""
    found = {path.name: path for path in folder.glob("*") if path.suffix in _TYPES}
    if INDEX not in found:
        return {}
    return {name: File(path.read_bytes(), _TYPES[path.suffix]) for name, path in sorted(found.items())}


def served(files: Mapping[str, File], name: str) -> Response:
    """The response with a file of the page; where none is built, the index says how to. Raises Problem."""
    if name == INDEX and not files:
        return _not_built()
    if name not in files:
        raise Problem(404, f"the page has no file {name!r:.60}: load it again, it may be of another version")
    cached = "no-cache" if name == INDEX else _FOREVER
    headers = {**_HEADERS, "Content-Security-Policy": POLICY, "Cache-Control": cached}
    return Response(files[name].body, headers=headers, media_type=files[name].kind)


def _not_built() -> Response:
    known = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    policy = "; ".join((*_NOWHERE, f"style-src 'sha256-{known}'"))
    headers = {**_HEADERS, "Content-Security-Policy": policy, "Cache-Control": "no-store"}
    return Response(_NOT_BUILT, headers=headers, media_type=_TYPES[".html"])
