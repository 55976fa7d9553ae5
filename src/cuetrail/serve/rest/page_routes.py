"""Where the page and what it looks at are found: `/`, its files under `/page`, and its views under `/view`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from cuetrail.serve.rest.middleware import ASKED
from cuetrail.serve.rest.page_views import VIEWS
from cuetrail.serve.rest.problems import Problem
from cuetrail.serve.rest.request_body import arguments
from cuetrail.serve.rest.web_page import INDEX, load, served

if TYPE_CHECKING:
    from cuetrail.serve.rest.app import Desk


def front(desk: Desk) -> list[Route]:
    """The routes of the page. Its files have nothing of the memory in them, so they need no token; its views do."""
    files = load()

    async def page(request: Request) -> Response:
        request.scope[ASKED] = "page"
        return served(files, request.path_params.get("name", INDEX))

    async def view(request: Request) -> Response:
        name = request.path_params["view"]
        look = VIEWS.get(name)
        if look is None:
            raise Problem(404, f"there is no view {name!r:.60}: there are {', '.join(VIEWS)}")
        request.scope[ASKED] = "view"
        scope = await desk.allowed(request, "read")
        given = await arguments(request, desk.rules)
        return await desk.answer(request, "view", scope, lambda memory: look(memory, given))

    return [
        Route("/", page, methods=["GET"]),
        Route("/page/{name}", page, methods=["GET"]),
        Route("/view/{view}", view, methods=["POST"]),
    ]
