"""Asks two real vaults what people ask of their own notes, and compares recall with plain text search.

    python -m bench.everyday --data FOLDER --work FOLDER
    python -m bench.everyday --vaults blue-book --embedder bge --bge FOLDER --dream
    python -m bench.everyday --rows recall --misses

Vaults are ingested and asked through the public API, with all defaults. The data is not part of the project;
docs/benchmarks/quality.md says what the folder holds.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from bench.common import aligned, workplace
from bench.everyday.baselines import Search, baselines
from bench.everyday.measure import Score, by_recipe, by_style, passages_of, score
from bench.everyday.questions import VAULTS, Vault, load_vault
from bench.quality.__main__ import spec
from bench.quality.sets import REMEMBERED, data_folder
from cuetrail import Memory, recipes

RECIPES = {"TAG_WALK": recipes.TAG_WALK, "ENERGY": recipes.ENERGY, "EXPLORE": recipes.EXPLORE}
RECALL = "recall"


def main() -> None:
    options = parser().parse_args()
    data = data_folder(options.data)
    with workplace(options.work) as work:
        for name in options.vaults:
            measure(load_vault(data, name, options.questions), work, options)


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(
        prog="python -m bench.everyday", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    found.add_argument("--data", type=Path, metavar="FOLDER", help="the public sets [CUETRAIL_DATA]")
    found.add_argument("--vaults", nargs="+", choices=VAULTS, default=list(VAULTS))
    found.add_argument("--embedder", choices=["static", "bge"], default="static", help="the default one, or bge-small")
    found.add_argument("--bge", type=Path, metavar="FOLDER", help="where scripts/fetch_bge.sh put bge-small")
    found.add_argument("--questions", type=int, metavar="N", help="only so many of each group")
    found.add_argument("--rows", nargs="+", default=[], metavar="ROW", help="only these rows")
    found.add_argument("--dream", action="store_true", help="dream once before asking")
    found.add_argument("--misses", action="store_true", help="list the questions whose note is not first in recall")
    found.add_argument("--work", type=Path, metavar="FOLDER", help="keep the memories there for the next run")
    return found


def measure(vault: Vault, work: Path, options: argparse.Namespace) -> None:
    folder = work / f"{vault.name}-notes"
    home = work / f"{vault.name}-{options.embedder}{'-dreamt' if options.dream else ''}"
    built = home.is_dir()
    with Memory(home, embedder=spec(options)) as memory:
        if not built:
            write_notes(vault, folder)
            memory.ingest(folder, now=REMEMBERED)
            if options.dream:
                memory.dream(now=REMEMBERED)
        passages = passages_of(memory, folder.name, work)
        rows: dict[str, Search] = {RECALL: by_recipe(memory, folder.name)}
        rows |= {name: by_recipe(memory, folder.name, recipe) for name, recipe in RECIPES.items()}
        rows |= baselines(vault.notes, passages)
        chosen = {name: row for name, row in rows.items() if not options.rows or name in options.rows}
        print(f"\n{vault.name}: {len(vault.notes):,} notes, {len(passages):,} passages, embedder {options.embedder}")
        for group, asked in vault.groups.items():
            scores = {name: score(row, asked) for name, row in chosen.items()}
            print(f"\n{group}, {len(asked)}\n{table(group, scores)}", flush=True)
            if options.misses and RECALL in scores:
                print("\n".join(f"  {miss}" for miss in scores[RECALL].misses))
        if RECALL in chosen:
            asked = [one for kind in ("questions", "more questions") for one in vault.groups.get(kind, ())]
            styles = {style: score(chosen[RECALL], of) for style, of in by_style(asked).items()}
            print(f"\nrecall by style\n{table('questions', styles)}", flush=True)


def write_notes(vault: Vault, folder: Path) -> None:
    for path, text in vault.notes.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")


def table(group: str, scores: dict[str, Score]) -> str:
    if group.endswith("absent"):
        return aligned(["row", "refused"], [[name, str(one.refused)] for name, one in scores.items()])
    columns = ["row", "note@1", "note@5", "note@10", "passage@1", "passage@5", "refused", "of"]
    rows = [
        [name, *(str(one.note[k]) for k in (1, 5, 10)), *(str(one.passage[k]) for k in (1, 5)), str(one.refused),
         str(one.asked)]
        for name, one in scores.items()
    ]  # fmt: skip
    return aligned(columns, rows)


if __name__ == "__main__":
    main()
