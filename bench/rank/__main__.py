"""Trains the ranker of TRAIL on development questions and writes `src/cuetrail/recall/score/ranker.json`.

    python -m bench.quality --work /tmp/quality                     # builds the memories of the public sets
    python -m bench.everyday --work /tmp/everyday                   # and those of the vaults
    python -m bench.rank --quality /tmp/quality --everyday /tmp/everyday --work /tmp/rank
    python -m bench.rank ... --embedders static none bge --bge models/bge --reranker models/reranker --write
    python -m bench.rank ... --without further support        # what these signals are worth

It reports what models that were trained on other questions (three folds) reach on each set, and with --sets, what
models that were trained on other sets reach. Needs `pip install 'cuetrail[bench]'`.
"""

from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import cuetrail.recall.score
from bench.common import aligned
from bench.quality.sets import data_folder
from bench.rank.gather import Case, Remembered, gather, sources
from bench.rank.train import Setting, figures, folds_of, train, unseen_scores
from cuetrail.recall.score.ranker import FILE
from cuetrail.rerank.registry import reranker_of

FOLDS = 3


def main() -> None:
    options = parser().parse_args()
    cases = gathered(options)
    answered = [case for case in cases if case.gold]
    models, told = {}, {}
    for name, setting in settings(options).items():
        asked = [case for case in answered if setting.fits(case)]
        folds = folds_of(asked, FOLDS, lambda case: case.cue)
        unseen = unseen_scores(asked, folds, setting)
        told[name] = figures(asked, unseen)
        show(f"{name}: trained on other questions", told[name])
        if options.sets:
            folds = folds_of(asked, len({case.set for case in asked}), lambda case: case.set)
            show(f"{name}: trained on other sets", figures(asked, unseen_scores(asked, folds, setting)))
        if options.write:
            models[name] = train(asked, setting)
    if options.write:
        write({"trained": datetime.now(UTC).date().isoformat(), "figures": rounded(told), "models": models})


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(
        prog="python -m bench.rank", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    found.add_argument("--data", type=Path, metavar="FOLDER", help="the public sets [CUETRAIL_DATA]")
    found.add_argument("--quality", type=Path, required=True, metavar="FOLDER", help="the --work of bench.quality")
    found.add_argument("--everyday", type=Path, required=True, metavar="FOLDER", help="the --work of bench.everyday")
    found.add_argument("--work", type=Path, required=True, metavar="FOLDER", help="where gathered signals are kept")
    found.add_argument("--embedders", nargs="+", choices=["static", "none", "bge"], default=["static", "none"])
    found.add_argument("--bge", type=Path, metavar="FOLDER", help="where scripts/fetch_bge.sh put bge-small")
    found.add_argument("--reranker", metavar="FOLDER", help="where scripts/fetch_reranker.sh put a cross-encoder")
    found.add_argument("--without", nargs="+", default=[], metavar="SIGNAL", help="leave these signals out")
    found.add_argument("--sets", action="store_true", help="also leave out one set at a time")
    found.add_argument("--write", action="store_true", help=f"write {FILE}")
    return found


def settings(options: argparse.Namespace) -> dict[str, Setting]:
    """Returns the models to train: "plain", and "reranked" if there is a reranker."""
    found = {"plain": Setting(without=tuple(options.without))}
    return found | ({"reranked": Setting(True, tuple(options.without))} if options.reranker else {})


def gathered(options: argparse.Namespace) -> list[Case]:
    """Returns the cases of all memories that were built. Those of the embedder "none" are searched by words alone."""
    made = reranker_of(f"onnx:{options.reranker}") if options.reranker else None
    reranker = Remembered(made, options.work / "scores.pickle") if made else None
    data, found = data_folder(options.data), list[Case]()
    for embedder in options.embedders:
        built = "static" if embedder == "none" else embedder
        spec = {"static": "static", "none": None, "bge": f"onnx:{options.bge}"}[embedder]
        for source in sources(data, options.quality, options.everyday, built):
            # By words alone nobody would use a reranker, who has no model at all.
            found += gather(source, embedder, spec, None if embedder == "none" else reranker, options.work)
    return found


def show(title: str, told: dict[str, dict[str, float]]) -> None:
    rows = [[name, "  ".join(f"{by} {value:.1f}" for by, value in of.items())] for name, of in told.items()]
    print(f"\n{title}\n{aligned(['set', 'figures'], rows)}", flush=True)


def rounded(told: dict[str, dict[str, dict[str, float]]]) -> dict[str, Any]:
    return {m: {s: {by: round(v, 1) for by, v in of.items()} for s, of in one.items()} for m, one in told.items()}


def write(data: dict[str, Any]) -> None:
    """Writes the models, one tree a line."""
    file = Path(next(iter(cuetrail.recall.score.__path__))) / FILE
    trees = {name: model["trees"] for name, model in data["models"].items()}
    marked = {name: {**model, "trees": f"trees of {name}"} for name, model in data["models"].items()}
    text = json.dumps({**data, "models": marked}, indent=1)
    for name, some in trees.items():
        lines = ",\n".join(json.dumps(tree, separators=(",", ":")) for tree in some)
        text = text.replace(f'"trees of {name}"', f"[\n{lines}\n]")
    json.loads(text)
    file.write_text(text + "\n", "utf-8")
    print(f"\nwritten: {file}, {file.stat().st_size:,} bytes, {np.sum([len(some) for some in trees.values()])} trees")


if __name__ == "__main__":
    main()
