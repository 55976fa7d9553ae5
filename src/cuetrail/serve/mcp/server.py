"""The MCP server: tools, pages and a prompt over one memory, on the official SDK.

Nothing heavy is loaded and the memory is not opened before something is asked of it, so that `initialize` is answered
at once however large the memory is.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.subscriptions import ListenHandler
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from starlette.types import ASGIApp

from cuetrail.errors import CuetrailError
from cuetrail.model import Scope
from cuetrail.serve.lazy_memory import Opener
from cuetrail.serve.mcp import resources
from cuetrail.serve.mcp.profiles import PROFILES, TITLE, Offer
from cuetrail.serve.mcp.subscriptions import Updates
from cuetrail.serve.tool import Answer, Tool, checked_arguments

if TYPE_CHECKING:
    from cuetrail.memory import Memory

log = logging.getLogger("cuetrail")

T = TypeVar("T")
Context = ServerRequestContext[Any, Any]


Turns = Callable[[str], anyio.CapacityLimiter]
"""Where a verb waits until it is its turn."""


def make_server(offer: Offer, opener: Opener, version: str, turns: Turns | None = None) -> Server[None]:
    """A server over a memory. One with `turns` serves several people: it closes nothing and tells of no updates."""
    updates = Updates(offer.pages(), opener.use)
    handlers = _Handlers(offer, opener, updates, turns)
    listen = ListenHandler(updates.bus)

    @contextlib.asynccontextmanager
    async def living(_server: Server[None]) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(updates.watch)
            try:
                yield None
            finally:
                tasks.cancel_scope.cancel()
                await anyio.to_thread.run_sync(opener.close)

    async def on_listen(
        context: Context, asked: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        async with updates.listening(list(asked.notifications.resource_subscriptions or ())):
            return await listen(context, asked)

    more: dict[str, Any] = {}
    if offer.prompt:
        more |= {"on_list_prompts": handlers.prompts, "on_get_prompt": handlers.prompt}
    if turns is None:
        more |= {
            "lifespan": living, "on_subscriptions_listen": on_listen, "on_subscribe_resource": handlers.subscribe,
            "on_unsubscribe_resource": handlers.unsubscribe,
        }  # fmt: skip
    return Server(
        offer.name, version=version, title=TITLE, instructions=offer.instructions,
        on_list_tools=handlers.tools, on_call_tool=handlers.call, on_list_resources=handlers.resources,
        on_list_resource_templates=handlers.templates, on_read_resource=handlers.read, **more,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Guest:
    """Who asks over the network: as whom (None: as the server's own user), and whether he may write."""

    scope: Scope | None = None
    writes: bool = True


GUEST = "cuetrail.guest"
"""Under this name the HTTP server says who asks."""


def _guest(context: Context) -> Guest:
    """Who asks. On stdin there is nobody but the user who started the server."""
    found = context.request.scope.get(GUEST) if context.request is not None else Guest()
    if not isinstance(found, Guest):
        raise MCPError(types.INTERNAL_ERROR, "nobody has said who asks")
    return found


class _Handlers:
    """What is done for each request of a client."""

    def __init__(self, offer: Offer, opener: Opener, updates: Updates, turns: Turns | None) -> None:
        self._offer, self._pages, self._opener, self._updates = offer, offer.pages(), opener, updates
        self._turns = turns
        self._tools: dict[str, Tool] = {}

    def _known(self) -> dict[str, Tool]:
        if not self._tools:
            self._tools = {tool.name: tool for tool in self._offer.tools()}
        return self._tools

    async def tools(self, _context: Context, _asked: object) -> types.ListToolsResult:
        known = await anyio.to_thread.run_sync(self._known)
        return types.ListToolsResult(tools=[_described(tool) for tool in known.values()])

    async def call(self, context: Context, asked: types.CallToolRequestParams) -> types.CallToolResult:
        tools = await anyio.to_thread.run_sync(self._known)
        tool = tools.get(asked.name)
        if tool is None:
            near = get_close_matches(asked.name, list(tools), 1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(tools)}"
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {asked.name!r:.80}: {hint}")
        if tool.writes and not _guest(context).writes:
            return _failed("this token may only read: use one that may write")
        try:
            answer = await self._use(context, lambda memory: _answer(tool, memory, asked.arguments or {}), tool.name)
        except CuetrailError as error:
            return _failed(" ".join(str(error).split()))
        except Exception as error:
            # The client must not wait for an answer, nor see where in the code it went wrong.
            log.exception("%s failed", tool.name)
            return _failed(f"{tool.name} failed unexpectedly ({type(error).__name__}): `cuetrail doctor` may find why")
        if tool.writes:
            with contextlib.suppress(CuetrailError):
                await self._updates.look()
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=answer.text)], structured_content=answer.data
        )

    async def resources(self, _context: Context, _asked: object) -> types.ListResourcesResult:
        found = [
            types.Resource(uri=one.uri, name=one.name, title=one.title, description=one.description, mime_type=one.mime)
            for one in self._pages.fixed
        ]
        return types.ListResourcesResult(resources=found)

    async def templates(self, _context: Context, _asked: object) -> types.ListResourceTemplatesResult:
        node = types.ResourceTemplate(
            uri_template=resources.NODE + "{id}", name="node", title="One memory", mime_type=resources.MARKDOWN,
            description="One memory by id or name, with its facts and neighbours.",
        )  # fmt: skip
        return types.ListResourceTemplatesResult(resource_templates=[node] if self._pages.nodes else [])

    async def read(self, context: Context, asked: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        text, mime = await self._asked(context, lambda memory: self._pages.read(memory, asked.uri))
        said = types.TextResourceContents(uri=asked.uri, mime_type=mime, text=text)
        return types.ReadResourceResult(contents=[said])

    async def subscribe(self, context: Context, asked: types.SubscribeRequestParams) -> types.EmptyResult:
        try:
            await self._updates.follow(asked.uri, context.session)
        except CuetrailError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error
        return types.EmptyResult()

    async def unsubscribe(self, _context: Context, asked: types.UnsubscribeRequestParams) -> types.EmptyResult:
        self._updates.leave(asked.uri)
        return types.EmptyResult()

    async def prompts(self, _context: Context, _asked: object) -> types.ListPromptsResult:
        topic = types.PromptArgument(name="topic", description="What the conversation is about.", required=False)
        prompt = types.Prompt(
            name=resources.START,
            title=resources.START_TITLE,
            description=resources.START_DESCRIPTION,
            arguments=[topic],
        )
        return types.ListPromptsResult(prompts=[prompt])

    async def prompt(self, context: Context, asked: types.GetPromptRequestParams) -> types.GetPromptResult:
        if asked.name != resources.START:
            raise MCPError(types.INVALID_PARAMS, f"there is no prompt {asked.name!r:.80}: there is {resources.START}")
        topic = (asked.arguments or {}).get("topic", "")
        text = await self._asked(context, lambda memory: resources.start(memory, topic))
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(description=resources.START_DESCRIPTION, messages=[message])

    async def _use(self, context: Context, work: Callable[[Memory], T], name: str = "page") -> T:
        """What some work on the memory gives, as whoever asks sees it, when it is its turn."""
        scope = _guest(context).scope
        turns = self._turns(name.removeprefix("memory_")) if self._turns is not None else None
        return await self._opener.use(lambda memory: work(memory.scoped(scope) if scope else memory), turns)

    async def _asked(self, context: Context, work: Callable[[Memory], T]) -> T:
        """What some work gives; what goes wrong in it is an error of the protocol, in words."""
        try:
            return await self._use(context, work)
        except CuetrailError as error:
            raise MCPError(types.INVALID_PARAMS, " ".join(str(error).split())) from error


def _answer(tool: Tool, memory: Memory, given: dict[str, Any]) -> Answer:
    # Models like to say null where they mean nothing.
    # And where a tool takes nothing, some clients make something up, which the reference server passes over.
    said = {
        name: value
        for name, value in given.items()
        if value is not None and (not tool.lenient or name in tool.properties)
    }
    return tool.call(memory, checked_arguments(tool, said))


def _failed(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)


def _described(tool: Tool) -> types.Tool:
    hints = types.ToolAnnotations(
        read_only_hint=not tool.writes, destructive_hint=tool.destroys, idempotent_hint=tool.repeatable,
        open_world_hint=False,
    )  # fmt: skip
    return types.Tool(
        name=tool.name, title=tool.title, description=tool.description, input_schema=tool.schema,
        output_schema=tool.output, annotations=hints,
    )  # fmt: skip


@contextlib.asynccontextmanager
async def over_http(opener: Opener, version: str, turns: Turns) -> AsyncIterator[ASGIApp]:
    """The ten tools as an application for streamable HTTP. Who asks must be in the request already, as GUEST."""
    manager = StreamableHTTPSessionManager(
        make_server(PROFILES["default"], opener, version, turns),
        stateless=True,
        # Host and Origin are checked before a request comes here.
        security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    async with manager.run():
        yield manager.handle_request
