"""The commands that let other programs use the memory."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cuetrail.cli import output
from cuetrail.cli.command import Run, examples, pass_run, shared, verb
from cuetrail.config import on_server, reference_file, without_password

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.serve.mcp.client_install import Change
    from cuetrail.serve.tokens import Token

PROFILES = ("default", "full")
OTHERS = ("mcp-memory",)
PROGRAMS = ("claude", "cursor", "vscode", "codex")

_profile = click.option(
    "--profile", type=click.Choice(PROFILES), default="default", show_default=True,
    help="Which tools are offered: ten, or every verb there is.",
)  # fmt: skip
_compat = click.option(
    "--compat", type=click.Choice(OTHERS),
    help="Answer as this server does, with its tools: mcp-memory is the reference memory server, whose file is taken "
    "in where MEMORY_FILE_PATH names it.",
)  # fmt: skip


@shared
@click.group(
    "mcp",
    invoke_without_command=True,
    epilog=examples(
        "cuetrail mcp",
        "cuetrail mcp install claude --dry-run",
        "cuetrail mcp --compat mcp-memory",
    ),
)
@_profile
@_compat
@click.pass_context
@pass_run
def mcp(run: Run, ctx: click.Context, /, profile: str, compat: str | None) -> None:
    """Serve the memory to an agent over MCP, on stdin and stdout.

    Agents start this themselves; `cuetrail mcp install` tells them how. The memory is opened when something is first
    asked of it, and made if it is not there.
    """
    if ctx.invoked_subcommand is not None:
        return
    import cuetrail
    from cuetrail.serve.mcp.handshake import answer_initialize
    from cuetrail.serve.mcp.profiles import COMPAT, PROFILES

    chosen = COMPAT[compat] if compat else PROFILES[profile]
    # Answered before the SDK is imported, which takes longer than all the rest.
    handshake = answer_initialize(chosen, cuetrail.__version__)

    import anyio

    from cuetrail.serve.lazy_memory import LazyMemory
    from cuetrail.serve.mcp.server import make_server
    from cuetrail.serve.mcp.stdio import serve_stdio

    opened = partial(_taken_over if compat else _opened, run)
    server = make_server(chosen, LazyMemory(opened), cuetrail.__version__)
    with output.warnings(run.quiet):
        anyio.run(serve_stdio, server, handshake)


def _opened(run: Run) -> Memory:
    from cuetrail.memory import Memory

    settings = run.settings()
    return Memory(
        settings.memory, scope=settings.scope, embedder=settings.embedder, api_key=settings.api_key,
        extractor=settings.extractor,
    )  # fmt: skip


def _taken_over(run: Run) -> Memory:
    """The memory, with what the server it stands in for has kept."""
    from cuetrail.serve.compat.mcp_memory import import_reference_file

    memory, file = _opened(run), reference_file()
    try:
        if file is not None:
            import_reference_file(memory, file)
    except BaseException:
        memory.close()
        raise
    return memory


@verb(
    "install",
    "cuetrail mcp install claude",
    "cuetrail mcp install codex --dry-run",
    "cuetrail --memory ~/notes mcp install cursor --name notes",
)
@click.argument("client", type=click.Choice(PROGRAMS))
@click.option("--name", default="cuetrail", show_default=True, help="What the client calls the server.")
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
@click.option("--replace", is_flag=True, help="Change an entry of the same name that says something else.")
@_profile
@_compat
@pass_run
def install(run: Run, /, client: Any, name: str, dry_run: bool, replace: bool, **offer: str | None) -> None:
    """Enter cuetrail in the settings of Claude, Cursor, VS Code or Codex.

    What is entered is shown, then written. Everything else in the file stays, and a copy of the file as it was is kept
    beside it.
    """
    from cuetrail.serve.mcp.client_install import changes, make_entry, write

    planned = changes(client, make_entry(name, _arguments(run, **offer)), replace=replace)
    if not run.json:
        output.say("\n\n".join(f"{one.path}\n{one.entry_text}" for one in planned))
    copies = [] if dry_run else [write(one) for one in planned]
    if run.json:
        output.say_json({"dry_run": dry_run, "files": [_change_json(one, dry_run) for one in planned]})
        return
    for one, copy in zip(planned, copies, strict=False):
        kept = f"; the file as it was is {copy.name}" if copy else ""
        run.notice(f"written to {one.path}{kept}" if one.needed else f"{one.path} says so already")
    if any(one.needed for one in planned) and not dry_run:
        run.notice(f"restart {client} to use it")


def _change_json(change: Change, dry_run: bool) -> dict[str, Any]:
    return {"path": str(change.path), "entry": change.entry_text, "written": change.needed and not dry_run}


def _arguments(run: Run, profile: str | None, compat: str | None) -> list[str]:
    """What the client has to pass so that it uses this memory in this scope, wherever it is started."""
    place = run.settings().memory
    # A password does not belong into a client's settings; the keyring or the environment has it.
    place = without_password(place) if "://" in place else str(Path(place).expanduser().absolute())
    given = [("--memory", place), ("--embedder", run.embedder), ("--user", run.user), ("--tenant", run.tenant)]
    given += [("--team", team) for team in run.team] + [("--share", run.share), ("--compat", compat)]
    given += [("--profile", profile)] if profile != "default" else []
    return ["mcp", *(word for option, value in given if value for word in (option, value))]


mcp.add_command(install)


@verb(
    "serve",
    "cuetrail serve",
    "cuetrail serve --port 8080",
    "cuetrail serve --host 0.0.0.0 --allow-host memory.example.org",
)
@click.option("--host", metavar="ADDRESS", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option(
    "--port", metavar="N", type=click.IntRange(0, 65535), default=8765, show_default=True,
    help="On which port; 0 takes one that is free.",
)  # fmt: skip
@click.option(
    "--allow-host", "names", metavar="NAME", multiple=True,
    help="A name clients reach this server by, beside localhost; repeatable.",
)  # fmt: skip
@pass_run
def serve(run: Run, /, host: str, port: int, names: tuple[str, ...]) -> None:
    """Serve the memory over HTTP: a page for people at /, and POST /v1/VERB with the verb's arguments as JSON.

    Only this machine is listened to unless --host says otherwise; any other address needs tokens, which `cuetrail token
    add` makes. As soon as there is a token, every request needs one. Ctrl-C stops when what is under way is done.
    """
    from cuetrail.serve.lazy_memory import LazyMemory
    from cuetrail.serve.rest.server import listening_socket, serve_http

    memory = LazyMemory(lambda: _opened(run), remote=on_server(run.settings().memory))
    with output.warnings(run.quiet), listening_socket(memory, host, port) as (listener, url):
        output.warn(f"serving {without_password(run.settings().memory)} on {url}")
        serve_http(memory, listener, (host, *names))


@shared
@click.group(
    "token",
    epilog=examples(
        "cuetrail token add laptop --access write --user ann",
        "cuetrail token list",
        "cuetrail token revoke 5f0c1d2e3a4b",
    ),
)
def token() -> None:
    """Say who may use the memory over HTTP, as whom, and for what."""


@verb("add", "cuetrail token add laptop", "cuetrail token add reader --access read --user ann --team ops")
@click.argument("name")
@click.option(
    "--access", type=click.Choice(("read", "write", "admin")), default="write", show_default=True,
    help="What it allows; admin also what concerns everybody's memories.",
)  # fmt: skip
@pass_run
def add_token(run: Run, /, name: str, access: Any) -> None:
    """Make a token. It is shown once; only a hash of it is kept.

    It stands for --user, --tenant, --team and --share as they are given here.
    """
    from cuetrail.serve.tokens import issue
    from cuetrail.text.timestamps import now_ms

    with run.open(new=True) as memory:
        made, text = issue(memory, name, access, memory.scope, now_ms())
    run.result({**_shown(made), "token": text}, text)
    run.notice(f"token {made.id} for {made.scope.user}: keep it, it is not shown again")


@verb("list", "cuetrail token list", "cuetrail token list --json")
@pass_run
def list_tokens(run: Run, /) -> None:
    """The tokens there are, without what is secret of them."""
    from cuetrail.serve.tokens import tokens

    with run.open() as memory:
        found = [_shown(one) for one in tokens(memory)]
    lines = (f"{one['id']}  {one['access']:5}  {one['tenant']}/{one['user']}  {one['name']}" for one in found)
    run.result(found, "\n".join(lines))


@verb("revoke", "cuetrail token revoke 5f0c1d2e3a4b")
@click.argument("id")
@pass_run
def revoke_token(run: Run, /, id: str) -> None:
    """End a token, given by its id."""
    from cuetrail.serve.tokens import revoke

    with run.open() as memory:
        revoke(memory, id)
    run.summary({"revoked": id}, f"{id} is no longer a token")


def _shown(one: Token) -> dict[str, Any]:
    scope = one.scope
    return {
        "id": one.id, "name": one.name, "access": one.access, "tenant": scope.tenant, "user": scope.user,
        "teams": list(scope.teams), "share": scope.share, "created": one.created,
    }  # fmt: skip


for command in (add_token, list_tokens, revoke_token):
    token.add_command(command)
