"""`cuetrail serve`, `token` and `mcp`: the HTTP server, its access tokens, and the MCP server with what agents run."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from cuetrail.cli import output
from cuetrail.cli.agent_settings import (
    CLIENTS,
    WITH_HOOKS,
    agrees_to_hooks,
    client_name,
    may_ask,
    memory_arguments,
    server_arguments,
    show_changes,
    write_changes,
)
from cuetrail.cli.command import Run, group, pass_run, verb
from cuetrail.cli.exit_codes import message_and_code
from cuetrail.cli.options import choice, number, seconds, several
from cuetrail.cli.page_opening import open_when_up, page_address
from cuetrail.config import on_server, reference_file, without_password
from cuetrail.serve.workers.capacity import MOST_WORKERS, can_hand_over, usable_cores

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.serve.rest.auth import Token


@verb(
    "cuetrail serve --open",
    "cuetrail serve --port 8080 --workers 1 --log json",
    "cuetrail serve --host 0.0.0.0 --allow-host memory.example.org",
)
@click.option("--host", metavar="ADDRESS", default="127.0.0.1", show_default=True, help="The address to listen on.")
@number("--port", most=65535, default=8765, help="The port; 0 takes a free one.")
@several(
    "--allow-host", "names", metavar="NAME", help="A host name of this server, in addition to localhost; repeatable."
)
@number(
    "--workers", least=1, most=MOST_WORKERS, default=None,
    help="Processes that answer requests, beside one that writes; 1: one process does all. Default: one for each core.",
)  # fmt: skip
@click.option("--open", "open_page", is_flag=True, help="Open the page in the browser when the server is up.")
@choice(
    "--log", "log_format", values=("lines", "json"), default="lines",
    help="The log on stderr: a line for people for each request, or JSON for programs.",
)  # fmt: skip
def serve(
    run: Run, /, host: str, port: int, names: tuple[str, ...], workers: int | None, open_page: bool, log_format: Any
) -> None:
    """Serve the memory over HTTP: a page for people at /, and POST /v1/VERB with the verb's arguments as JSON.

    The default address accepts connections from this machine only. Other addresses need tokens, which `cuetrail token
    add` makes. As soon as there is a token, every request needs one. Ctrl-C stops the server after running requests.
    """
    from cuetrail.serve.memory_access import LazyMemory
    from cuetrail.serve.rest.server import listening_socket, serve_http

    address = run.settings().memory
    memory = LazyMemory(run.open_for_server, remote=on_server(address))
    readers = _readers(address, workers)
    with output.warnings(run.quiet), listening_socket(memory, host, port) as (listener, url):
        many = f" with {readers} workers" if readers > 1 else ""
        output.warn(f"serving {without_password(address)}{many} on {url}")
        if open_page:
            open_when_up(page_address(host, url), output.warn)
        if readers == 1:
            serve_http(memory, listener, (host, *names), log_format)
            return
        from cuetrail.serve.workers.child_task import Task
        from cuetrail.serve.workers.supervisor import serve_with_readers

        # Opened to look for tokens, perhaps; the other processes open it themselves.
        memory.close()
        warnings = partial(output.warnings, run.quiet)
        task = Task(None, readers, run.open_for_server, memory.remote, warnings, (host, *names), log_format)
        serve_with_readers(task, listener)


def _readers(address: str, wanted: int | None) -> int:
    """Returns the number of processes that answer requests. Raises UsageError if several cannot work here."""
    if wanted == 1 or (wanted is None and not can_hand_over()):
        return 1
    if not can_hand_over():
        raise click.UsageError("several processes need a system that can pass sockets between them: use --workers 1")
    from cuetrail.engines import is_copied

    # Of a memory that cannot be written to, every process would make its own copy.
    return 1 if is_copied(address) else wanted or usable_cores()


@group(
    "cuetrail token add laptop --access write --user ann", "cuetrail token list", "cuetrail token revoke 5f0c1d2e3a4b"
)
def token() -> None:
    """Manage access tokens of the HTTP server."""


@verb("cuetrail token add laptop", "cuetrail token add reader --access read --user ann --team ops", name="add")
@click.argument("name")
@choice(
    "--access", values=("read", "write", "admin"), default="write",
    help="The rights; admin includes verbs that concern the memories of all users.",
)  # fmt: skip
@click.option("--expires", metavar="TIME", callback=seconds, help="Refuse it after this time, such as 12h or 90d.")
def add_token(run: Run, /, name: str, access: Any, expires: float | None) -> None:
    """Make a token. It is shown once; only a hash of it is stored.

    Requests with it use the --user, --tenant, --team and --share given here.
    """
    from cuetrail.serve.rest.auth import issue
    from cuetrail.text.timestamps import now_ms

    with run.open(new=True) as memory:
        now = now_ms()
        end = None if expires is None else now + round(expires * 1000)
        made, text = issue(memory, name, access, memory.scope, now, end)
    run.result({**_token_json(made), "token": text}, text)
    run.notice(f"token {made.id} for {made.scope.user}: keep it, it is not shown again")


@verb("cuetrail token list", "cuetrail token list --json", name="list")
def list_tokens(run: Run, /) -> None:
    """List all tokens without their secrets."""
    from cuetrail.serve.rest.auth import tokens

    with run.open() as memory:
        found = [_token_json(one) for one in tokens(memory)]
    lines = (f"{one['id']}  {one['access']:5}  {one['tenant']}/{one['user']}  {one['name']}" for one in found)
    run.result(found, "\n".join(lines))


@verb("cuetrail token revoke 5f0c1d2e3a4b", name="revoke")
@click.argument("id")
def revoke_token(run: Run, /, id: str) -> None:
    """Revoke a token, given by its id."""
    from cuetrail.serve.rest.auth import revoke

    with run.open() as memory:
        revoke(memory, id)
    run.summary({"revoked": id}, f"{id} is no longer a token")


def _token_json(one: Token) -> dict[str, Any]:
    scope = one.scope
    return {
        "id": one.id, "name": one.name, "access": one.access, "tenant": scope.tenant, "user": scope.user,
        "teams": list(scope.teams), "share": scope.share, "created": one.created,
        "expires": one.expires,
    }  # fmt: skip


for command in (add_token, list_tokens, revoke_token):
    token.add_command(command)


PROFILES = ("default", "full")
COMPAT_SERVERS = ("mcp-memory",)
MAX_EVENT_BYTES = 1 << 20

_profile = choice(
    "--profile", values=PROFILES, default="default", help="The tools to offer: the ten most useful, or every verb."
)
_compat = choice(
    "--compat", values=COMPAT_SERVERS,
    help="Offer the tools of another server: mcp-memory is the reference memory server. Its file is imported if "
    "MEMORY_FILE_PATH names it.",
)  # fmt: skip


@group(
    "cuetrail mcp",
    "cuetrail mcp install claude --dry-run",
    "cuetrail mcp --compat mcp-memory",
    invoke_without_command=True,
)
@_profile
@_compat
@click.pass_context
@pass_run
def mcp(run: Run, ctx: click.Context, /, profile: str, compat: str | None) -> None:
    """Serve the memory to an agent over MCP, on stdin and stdout.

    Agents start this themselves; `cuetrail mcp install` enters the command in their settings. The first request opens
    the memory, and creates it if it does not exist.
    """
    if ctx.invoked_subcommand is not None:
        return
    import cuetrail
    from cuetrail.serve.mcp.handshake import COMPAT, PROFILES, answer_initialize

    chosen = COMPAT[compat] if compat else PROFILES[profile]
    # Answered before the SDK is imported, which takes longer than all the rest.
    handshake = answer_initialize(chosen, cuetrail.__version__)

    import anyio

    from cuetrail.serve.mcp.server import make_server, serve_stdio
    from cuetrail.serve.memory_access import LazyMemory

    open_memory = partial(_open_with_reference_file, run) if compat else run.open_for_server
    server = make_server(chosen, LazyMemory(open_memory), cuetrail.__version__)
    with output.warnings(run.quiet):
        anyio.run(serve_stdio, server, handshake)


def _open_with_reference_file(run: Run) -> Memory:
    """Opens the memory and imports the file of the reference server, if there is one."""
    from cuetrail.serve.mcp.reference_tools import import_reference_file

    memory, file = run.open_for_server(), reference_file()
    try:
        if file is not None:
            import_reference_file(memory, file)
    except BaseException:
        memory.close()
        raise
    return memory


_client = click.argument("client", type=click.Choice(CLIENTS))
_dry_run = click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
_yes = click.option("--yes", is_flag=True, help="Write without asking.")


@verb(
    "cuetrail mcp install claude",
    "cuetrail mcp install claude-code --hooks --dry-run",
    "cuetrail --memory ~/notes mcp install cursor --name notes",
)
@_client
@click.option("--name", default="cuetrail", show_default=True, help="The name of the server in the client's settings.")
@click.option(
    "--hooks/--no-hooks", default=None,
    help="Claude Code and Codex: also brief the agent when a conversation starts, and keep what was said when it ends. "
    "Default: ask on a terminal, else no.",
)  # fmt: skip
@_dry_run
@_yes
@click.option("--replace", is_flag=True, help="Replace a different entry of the same name.")
@_profile
@_compat
def install(
    run: Run, /, client: Any, name: str, hooks: bool | None, dry_run: bool, yes: bool, replace: bool,
    **server: str | None,
) -> None:  # fmt: skip
    """Add cuetrail to the MCP settings of Claude (Desktop and Code), Claude Code, Cursor, VS Code or Codex.

    What changes is printed, then written. The rest of the file stays as it is, and a copy of the old file is stored
    beside it. `cuetrail mcp uninstall` takes all of it out again.
    """
    from cuetrail.serve.mcp.client_hooks import has_hooks, hook_change, hook_command
    from cuetrail.serve.mcp.client_install import changes, make_entry

    if hooks and client not in WITH_HOOKS:
        raise click.UsageError(f"{client} has no hooks: leave --hooks out, or install for {', '.join(WITH_HOOKS)}")
    planned = changes(client, make_entry(name, server_arguments(run, **server)), replace=replace)
    asks = may_ask(run) and not yes and not dry_run
    show_changes(run, planned)
    if hooks or (hooks is None and client in WITH_HOOKS and asks and has_hooks(client)):
        change = hook_change(client, hook_command([client_name(client), *memory_arguments(run)]))
        show_changes(run, [change])
        if asks and change.needed and not agrees_to_hooks(hooks):
            if hooks:
                raise click.ClickException("nothing was changed")
        else:
            planned.append(change)
    write_changes(run, planned, dry_run)
    if any(one.needed for one in planned) and not dry_run:
        run.notice(f"restart {client} to use it")


@verb("cuetrail mcp uninstall claude-code", "cuetrail mcp uninstall codex --name notes --dry-run")
@_client
@click.option("--name", default="cuetrail", show_default=True, help="The name of the server in the client's settings.")
@_dry_run
def uninstall(run: Run, /, client: Any, name: str, dry_run: bool) -> None:
    """Remove cuetrail from the MCP settings of a client, and all its hooks there. The memory stays."""
    from cuetrail.serve.mcp.client_hooks import hook_removal
    from cuetrail.serve.mcp.client_install import removals

    planned = removals(client, name)
    hooks = hook_removal(client) if client in WITH_HOOKS else None
    planned += [hooks] if hooks is not None else []
    show_changes(run, planned)
    write_changes(run, planned, dry_run)
    if not planned:
        run.notice(f"the settings of {client} have no server {name!r} and no hooks of cuetrail: nothing to remove")


@verb("cuetrail mcp hook claude-code < event.json")
@click.argument("client", type=click.Choice(WITH_HOOKS))
@click.pass_context
def hook(ctx: click.Context, run: Run, /, client: str) -> None:
    """Answer an event of an agent, which is JSON on stdin. Agents run this themselves: see `mcp install --hooks`.

    SessionStart prints the brief. SessionEnd and Stop keep what was said, without what is known already. An error is
    one line on stderr and exit code 1, which stops no agent.
    """
    try:
        _answer_event(run, client)
    except Exception as error:  # noqa: BLE001  # an error of the memory must not stop the agent
        output.warn(message_and_code(error)[0])
        ctx.exit(1)


def _answer_event(run: Run, client: str) -> None:
    from cuetrail.serve.mcp import hook_events

    if sys.stdin.isatty():
        raise click.UsageError("agents run this with an event on stdin")
    event = hook_events.parse_event(sys.stdin.buffer.read(MAX_EVENT_BYTES))
    if event["hook_event_name"] != hook_events.START:
        with run.open(vectors=True, new=True, anyway=True) as memory:
            hook_events.keep_conversation(memory, event, client_name(client))
    elif run.has_memory():
        with run.open() as memory:
            text = hook_events.starting_text(memory)
        if text:
            output.say(text)


mcp.add_command(install)
mcp.add_command(uninstall)
mcp.add_command(hook)
