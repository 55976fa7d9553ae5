"""Measures how well recall answers on public sets, and writes docs/benchmarks/quality.md.

    python -m bench.quality --data FOLDER --sets musique 2wiki --work FOLDER
    python -m bench.quality --embedder bge --bge FOLDER --questions 100
    python -m bench.quality --report

The data is not part of the project; docs/benchmarks/quality.md says what the folder holds. --work keeps the memories
for the next run, which then only asks. A run with --questions is for trying things out: nothing of it is published.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from bench.common import aligned, workplace
from bench.quality import report
from bench.quality.registry import SETS
from bench.quality.run import Job, Measured, keep, load_measured, run
from bench.quality.sets import data_folder


def main() -> None:
    options = parser().parse_args()
    if not options.report:
        data = data_folder(options.data)
        with workplace(options.work) as work:
            for name in chosen_sets(options):
                job = Job(
                    name, data, work, options.embedder, spec(options), options.questions, tuple(options.rows),
                    options.dream, options.triples,
                )  # fmt: skip
                finished(run(job), trial=options.questions is not None)
    if options.report or options.publish:
        print(report.publish(load_measured()))


def chosen_sets(options: argparse.Namespace) -> list[str]:
    """The sets to measure; with triples, those that have some."""
    return [name for name in options.sets if SETS[name].triples or not options.triples]


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(
        prog="python -m bench.quality", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    found.add_argument("--data", type=Path, metavar="FOLDER", help="the public sets [CUETRAIL_DATA]")
    found.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS), metavar="SET", help=", ".join(SETS))
    found.add_argument("--embedder", choices=["static", "bge"], default="static", help="the default one, or bge-small")
    found.add_argument("--bge", type=Path, metavar="FOLDER", help="where scripts/fetch_bge.sh put bge-small")
    found.add_argument("--questions", type=int, metavar="N", help="only so many of each corpus; nothing is published")
    found.add_argument(
        "--rows", nargs="+", default=[], metavar="ROW", help="ask only these and the first; others stay as stored"
    )
    found.add_argument("--dream", action="store_true", help="dream once after taking in: tags and edges to walk along")
    found.add_argument(
        "--triples", action="store_true", help="load the triples of the multi-hop sets as facts: a cross-check"
    )
    found.add_argument("--work", type=Path, metavar="FOLDER", help="build there and reuse; a temporary one when absent")
    found.add_argument("--publish", action="store_true", help="write the tables and plots when done")
    found.add_argument("--report", action="store_true", help="only write the tables and plots from the stored results")
    return found


def spec(options: argparse.Namespace) -> str:
    """The embedder as a memory takes it."""
    if options.embedder == "static":
        return "static"
    if options.bge is None or not (options.bge / "model.onnx").is_file():
        raise SystemExit("bge needs its model: run scripts/fetch_bge.sh FOLDER once, then pass --bge FOLDER")
    return f"onnx:{options.bge}"


def finished(result: Measured, trial: bool) -> None:
    columns, rows = report.table(result)
    print(f"\n{result.title}, {result.embedder}, {result.questions} questions")
    print(aligned(columns, rows), flush=True)
    if not trial:
        print(f"kept in {keep(result)}")


if __name__ == "__main__":
    main()
