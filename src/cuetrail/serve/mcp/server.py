"""The MCP server on the official SDK: handlers for tools, resources, the prompt and subscriptions; over stdio and HTTP.

The memory is opened by the first request that needs it, so `initialize` is fast for a memory of any size.
"""

from __future__ import annotations

import contextlib
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.subscriptions import ListenHandler
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from starlette.types import ASGIApp

from cuetrail.errors import CuetrailError
from cuetrail.model import Scope
from cuetrail.serve.mcp import resources
from cuetrail.serve.mcp.handshake import PROFILES, TITLE, Handshake, Profile
from cuetrail.serve.mcp.subscriptions import Subscriptions
from cuetrail.serve.memory_access import LazyMemory
from cuetrail.serve.tool import Tool, ToolResult, checked_arguments
from cuetrail.serve.write_queue import Write, Writes

if TYPE_CHECKING:
    from cuetrail.memory import Memory

log = logging.getLogger("cuetrail")

T = TypeVar("T")
Context = ServerRequestContext[Any, Any]


@dataclass(frozen=True, slots=True)
class Queues:
    """How a server over HTTP runs tools: those that write by `writes`, the others within the limiter that `limiter_for`
    returns for the verb.
    """

    limiter_for: Callable[[str], anyio.CapacityLimiter]
    writes: Writes


def make_server(profile: Profile, memory: LazyMemory, version: str, queues: Queues | None = None) -> Server[None]:
    """Returns an MCP server. With `queues` it serves several clients over HTTP: it has no subscriptions, and does not
    close the memory when it stops.
    """
    offered = resources.GRAPH_RESOURCES if profile.reference else resources.RESOURCES
    subscriptions = Subscriptions(offered, memory.run)
    handlers = _Handlers(profile, memory, subscriptions, queues)
    listen = ListenHandler(subscriptions.bus)

    @contextlib.asynccontextmanager
    async def lifespan(_server: Server[None]) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(subscriptions.watch)
            try:
                yield None
            finally:
                tasks.cancel_scope.cancel()
                await anyio.to_thread.run_sync(memory.close)

    async def on_listen(
        context: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        async with subscriptions.listening(list(params.notifications.resource_subscriptions or ())):
            return await listen(context, params)

    more: dict[str, Any] = {}
    if not profile.reference:
        more |= {"on_list_prompts": handlers.prompts, "on_get_prompt": handlers.prompt}
    if queues is None:
        more |= {
            "lifespan": lifespan, "on_subscriptions_listen": on_listen, "on_subscribe_resource": handlers.subscribe,
            "on_unsubscribe_resource": handlers.unsubscribe,
        }  # fmt: skip
    return Server(
        profile.name, version=version, title=TITLE, instructions=profile.instructions,
        on_list_tools=handlers.tools, on_call_tool=handlers.call, on_list_resources=handlers.resources,
        on_list_resource_templates=handlers.templates, on_read_resource=handlers.read, **more,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of an HTTP request: the scope of its token (None: the server's own), and whether it may write."""

    scope: Scope | None = None
    may_write: bool = True


CALLER_KEY = "cuetrail.caller"
"""The key of an ASGI scope under which the HTTP server stores the caller."""


def _caller(context: Context) -> Caller:
    """Returns the sender of a request. On stdin it is the user who started the server."""
    found = context.request.scope.get(CALLER_KEY) if context.request is not None else Caller()
    if not isinstance(found, Caller):
        raise MCPError(types.INTERNAL_ERROR, "the request has no caller")
    return found


class _Handlers:
    """The functions that answer MCP requests, one for each kind of request."""

    def __init__(
        self, profile: Profile, memory: LazyMemory, subscriptions: Subscriptions, queues: Queues | None
    ) -> None:
        self._profile, self._resources, self._memory = profile, subscriptions.resources, memory
        self._subscriptions, self._queues = subscriptions, queues
        self._tools: dict[str, Tool] = {}

    def _load_tools(self) -> dict[str, Tool]:
        if not self._tools:
            self._tools = {tool.name: tool for tool in self._profile.tools()}
        return self._tools

    async def tools(self, _context: Context, _params: object) -> types.ListToolsResult:
        known = await anyio.to_thread.run_sync(self._load_tools)
        return types.ListToolsResult(tools=[_mcp_tool(tool) for tool in known.values()])

    async def call(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tools = await anyio.to_thread.run_sync(self._load_tools)
        tool = tools.get(params.name)
        if tool is None:
            near = get_close_matches(params.name, list(tools), 1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(tools)}"
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name!r:.80}: {hint}")
        if tool.writes and not _caller(context).may_write:
            return _error_result("this token may only read: use one that may write")
        try:
            result = await self._called(context, tool, params.arguments or {})
        except CuetrailError as error:
            # The reference server names things as they were given, whatever spaces are in them.
            return _error_result(str(error) if self._profile.reference else " ".join(str(error).split()))
        except Exception as error:
            # The client gets an answer in any case, without details of the code.
            log.exception("%s failed", tool.name)
            return _error_result(
                f"{tool.name} failed unexpectedly ({type(error).__name__}): `cuetrail doctor` may find why"
            )
        if tool.writes:
            with contextlib.suppress(CuetrailError):
                await self._subscriptions.notify_changes()
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=result.text)], structured_content=result.data
        )

    async def resources(self, _context: Context, _params: object) -> types.ListResourcesResult:
        found = [
            types.Resource(uri=one.uri, name=one.name, title=one.title, description=one.description, mime_type=one.mime)
            for one in self._resources.fixed
        ]
        return types.ListResourcesResult(resources=found)

    async def templates(self, _context: Context, _params: object) -> types.ListResourceTemplatesResult:
        node = types.ResourceTemplate(
            uri_template=resources.NODE + "{id}", name="node", title="One memory", mime_type=resources.MARKDOWN,
            description="One memory by id or name, with its facts and neighbours.",
        )  # fmt: skip
        return types.ListResourceTemplatesResult(resource_templates=[node] if self._resources.nodes else [])

    async def read(self, context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        text, mime = await self._run_or_mcp_error(context, lambda memory: self._resources.read(memory, params.uri))
        contents = types.TextResourceContents(uri=params.uri, mime_type=mime, text=text)
        return types.ReadResourceResult(contents=[contents])

    async def subscribe(self, context: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        try:
            await self._subscriptions.subscribe(params.uri, context.session)
        except CuetrailError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error
        return types.EmptyResult()

    async def unsubscribe(self, _context: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        self._subscriptions.unsubscribe(params.uri)
        return types.EmptyResult()

    async def prompts(self, _context: Context, _params: object) -> types.ListPromptsResult:
        topic = types.PromptArgument(name="topic", description="What the conversation is about.", required=False)
        prompt = types.Prompt(
            name=resources.START, title=resources.START_TITLE, description=resources.START_DESCRIPTION,
            arguments=[topic],
        )  # fmt: skip
        return types.ListPromptsResult(prompts=[prompt])

    async def prompt(self, context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name != resources.START:
            raise MCPError(types.INVALID_PARAMS, f"there is no prompt {params.name!r:.80}: there is {resources.START}")
        topic = (params.arguments or {}).get("topic", "")
        text = await self._run_or_mcp_error(context, lambda memory: resources.start_prompt(memory, topic))
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(description=resources.START_DESCRIPTION, messages=[message])

    async def _run(self, context: Context, work: Callable[[Memory], T], tool: str = "page") -> T:
        """Runs work on the memory in the caller's scope, when the limiter allows it, and returns its result."""
        limiter = self._queues.limiter_for(tool.removeprefix("memory_")) if self._queues is not None else None
        return await self._memory.run(work, limiter, _caller(context).scope)

    async def _called(self, context: Context, tool: Tool, given: dict[str, Any]) -> ToolResult:
        """Calls a tool and returns its result."""
        if self._queues is None or not tool.writes:
            return await self._run(context, lambda memory: call_tool(tool, memory, given), tool.name)
        work = partial(_call_by_name, tool.name, given)
        write = Write(tool.name.removeprefix("memory_"), _caller(context).scope, work)
        result: ToolResult = await self._queues.writes.run(write)
        return result

    async def _run_or_mcp_error(self, context: Context, work: Callable[[Memory], T]) -> T:
        """Runs work and returns its result. Raises MCPError for errors of cuetrail."""
        try:
            return await self._run(context, work)
        except CuetrailError as error:
            raise MCPError(types.INVALID_PARAMS, " ".join(str(error).split())) from error


def call_tool(tool: Tool, memory: Memory, given: dict[str, Any]) -> ToolResult:
    """Calls a tool. Arguments that are null are ignored, and unknown ones if the tool is lenient. Raises InputError."""
    arguments = {
        name: value
        for name, value in given.items()
        if value is not None and (not tool.lenient or name in tool.properties)
    }
    return tool.call(memory, checked_arguments(tool, arguments))


def _call_by_name(name: str, given: dict[str, Any], memory: Memory, _progress: object) -> ToolResult:
    """Calls a tool that is given by name, because another process may be the one that writes."""
    return call_tool(_tools_over_http()[name], memory, given)


@cache
def _tools_over_http() -> dict[str, Tool]:
    return {tool.name: tool for tool in PROFILES["default"].tools()}


def _error_result(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)


_UNLISTED = frozenset({"minimum", "maximum", "maxItems", "default"})
"""Parts of the schema of an argument that are not listed."""


def _mcp_tool(tool: Tool) -> types.Tool:
    hints = types.ToolAnnotations(
        read_only_hint=not tool.writes, destructive_hint=tool.destroys, idempotent_hint=tool.repeatable,
        open_world_hint=False,
    )  # fmt: skip
    # The list is part of every conversation: what is refused is said when it is given, and titles repeat names.
    schema = {name: value for name, value in tool.schema.items() if name != "additionalProperties"}
    schema["properties"] = {
        name: {key: value for key, value in one.items() if key not in _UNLISTED}
        for name, one in tool.properties.items()
    }
    return types.Tool(
        name=tool.name, description=tool.description, input_schema=schema,
        output_schema=tool.output, annotations=hints,
    )  # fmt: skip


@contextlib.asynccontextmanager
async def over_http(memory: LazyMemory, version: str, queues: Queues) -> AsyncIterator[ASGIApp]:
    """Yields an ASGI application for MCP over HTTP with the default tools. Its scopes must have a CALLER_KEY."""
    manager = StreamableHTTPSessionManager(
        make_server(PROFILES["default"], memory, version, queues),
        stateless=True,
        # The HTTP server has already checked Host and Origin.
        security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    async with manager.run():
        yield manager.handle_request


Incoming = SessionMessage | Exception


async def serve_stdio(server: Server[None], handshake: Handshake) -> None:
    """Serves on stdin and stdout until the client closes stdin and all its requests are answered.

    The server also gets the first line, which `handshake` holds. If that was answered, its own answer is dropped.
    """
    unanswered = _Unanswered()
    async with stdio_server() as (reading, writing):
        await server.run(
            _RequestStream(_parse(handshake.line), reading, unanswered),
            _ResponseStream(handshake.answered_id, writing, unanswered),
            server.create_initialization_options(),
        )  # fmt: skip


LISTEN = "subscriptions/listen"
"""The one request that is answered only when the client ends it."""


class _Unanswered:
    """Counts the requests that were read and are not answered yet, by id."""

    def __init__(self) -> None:
        self._ids, self._changed = Counter[str | int](), anyio.Event()

    def read(self, message: object) -> None:
        """Records a message of the client: adds a request, or removes one that it cancels."""
        if isinstance(message, types.JSONRPCRequest) and message.method != LISTEN:
            self._ids[message.id] += 1
        elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            self._remove((message.params or {}).get("requestId"))

    def sent(self, message: object) -> None:
        """Records a message of the server: removes the request that it answers."""
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            self._remove(message.id)

    def _remove(self, id_: object) -> None:
        if isinstance(id_, str | int) and id_ in self._ids:
            self._ids[id_] -= 1
            self._ids = +self._ids
            self._changed.set()

    async def wait(self) -> None:
        """Waits until every request is answered."""
        while self._ids:
            self._changed = anyio.Event()
            await self._changed.wait()


def _parse(line: bytes) -> list[Incoming]:
    """Returns the message in a line, or its error, as the SDK's own reader does; nothing for an empty line."""
    if not line:
        return []
    try:
        return [SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))]
    except ValueError as error:
        return [error]


class _WrappedStream:
    """A stream that opens and closes the stream inside it."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        suppressed: bool | None = await self._inner.__aexit__(kind, error, trace)
        return suppressed


class _RequestStream(_WrappedStream):
    """A stream of requests: first those in `first`, then those of the inner stream. It ends when all are answered."""

    def __init__(self, first: list[Incoming], inner: Any, unanswered: _Unanswered) -> None:
        super().__init__(inner)
        self._first, self._unanswered = first, unanswered

    async def receive(self) -> Incoming:
        try:
            item: Incoming = self._first.pop(0) if self._first else await self._inner.receive()
        except anyio.EndOfStream:
            await self._unanswered.wait()
            raise
        if isinstance(item, SessionMessage):
            self._unanswered.read(item.message)
        return item

    async def __anext__(self) -> Incoming:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    def __aiter__(self) -> Self:
        return self


class _ResponseStream(_WrappedStream):
    """A stream of responses that drops the response to a request that is already answered."""

    def __init__(self, answered_id: str | int | None, inner: Any, unanswered: _Unanswered) -> None:
        super().__init__(inner)
        self._answered_id, self._unanswered = answered_id, unanswered

    async def send(self, item: SessionMessage, /) -> None:
        message = item.message
        if (
            self._answered_id is not None
            and isinstance(message, types.JSONRPCResponse)
            and message.id == self._answered_id
        ):
            self._answered_id = None
        else:
            await self._inner.send(item)
        self._unanswered.sent(message)
