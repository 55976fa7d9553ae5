"""`cuetrail serve` and `token`: the HTTP server and its access tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cuetrail.cli import output
from cuetrail.cli.command import Run, examples, pass_run, verb, with_shared_options
from cuetrail.cli.options import choice, number, several
from cuetrail.config import on_server, without_password

if TYPE_CHECKING:
    from cuetrail.serve.rest.auth import Token


@verb(
    "serve",
    "cuetrail serve",
    "cuetrail serve --port 8080",
    "cuetrail serve --host 0.0.0.0 --allow-host memory.example.org",
)
@click.option("--host", metavar="ADDRESS", default="127.0.0.1", show_default=True, help="The address to listen on.")
@number("--port", most=65535, default=8765, help="The port; 0 takes a free one.")
@several(
    "--allow-host", "names", metavar="NAME", help="A host name of this server, in addition to localhost; repeatable."
)
@pass_run
def serve(run: Run, /, host: str, port: int, names: tuple[str, ...]) -> None:
    """Serve the memory over HTTP: a page for people at /, and POST /v1/VERB with the verb's arguments as JSON.

    The default address accepts connections from this machine only. Other addresses need tokens, which `cuetrail token
    add` makes. As soon as there is a token, every request needs one. Ctrl-C stops the server after running requests.
    """
    from cuetrail.serve.memory_access import LazyMemory
    from cuetrail.serve.rest.server import listening_socket, serve_http

    memory = LazyMemory(run.open_for_server, remote=on_server(run.settings().memory))
    with output.warnings(run.quiet), listening_socket(memory, host, port) as (listener, url):
        output.warn(f"serving {without_password(run.settings().memory)} on {url}")
        serve_http(memory, listener, (host, *names))


@with_shared_options
@click.group(
    "token",
    epilog=examples(
        "cuetrail token add laptop --access write --user ann",
        "cuetrail token list",
        "cuetrail token revoke 5f0c1d2e3a4b",
    ),
)
def token() -> None:
    """Manage access tokens of the HTTP server."""


@verb("add", "cuetrail token add laptop", "cuetrail token add reader --access read --user ann --team ops")
@click.argument("name")
@choice(
    "--access", values=("read", "write", "admin"), default="write",
    help="The rights; admin includes verbs that concern the memories of all users.",
)  # fmt: skip
@pass_run
def add_token(run: Run, /, name: str, access: Any) -> None:
    """Make a token. It is shown once; only a hash of it is stored.

    Requests with it use the --user, --tenant, --team and --share given here.
    """
    from cuetrail.serve.rest.auth import issue
    from cuetrail.text.timestamps import now_ms

    with run.open(new=True) as memory:
        made, text = issue(memory, name, access, memory.scope, now_ms())
    run.result({**_token_json(made), "token": text}, text)
    run.notice(f"token {made.id} for {made.scope.user}: keep it, it is not shown again")


@verb("list", "cuetrail token list", "cuetrail token list --json")
@pass_run
def list_tokens(run: Run, /) -> None:
    """List all tokens without their secrets."""
    from cuetrail.serve.rest.auth import tokens

    with run.open() as memory:
        found = [_token_json(one) for one in tokens(memory)]
    lines = (f"{one['id']}  {one['access']:5}  {one['tenant']}/{one['user']}  {one['name']}" for one in found)
    run.result(found, "\n".join(lines))


@verb("revoke", "cuetrail token revoke 5f0c1d2e3a4b")
@click.argument("id")
@pass_run
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
    }  # fmt: skip


for command in (add_token, list_tokens, revoke_token):
    token.add_command(command)
