"""Mutation testing: plants small faults in functions of the source, one at a time, and counts those that tests notice.

`python -m tests.reliability.mutate SEED COUNT REPORT [FOLDERS [TESTS ...]]` plants faults in these folders of the
source (such as `write,facts`; all without them). It collects the tests at the given paths (all). First each runs once,
and it is noted beside REPORT which functions it calls; of many examples of one test three are noted. For each fault a
copy of the process replaces the code of one function in memory and runs the noted tests that call it, first the fast
ones and those that mirror its path, then their other examples. No file is changed. Noting ends after a time, and a
second call goes on with it; of tests that are not noted those run that mirror the path or name the function.

REPORT gets a line per fault; a second call with the same arguments goes on after its last line. Tests of kills, of
damaged files and of other processes are left out. Without NEO4J_URI no test on Neo4j is run, and no fault in its engine
is tried; with it, these tests and faults alone are.
"""

from __future__ import annotations

import ast
import copy
import gc
import itertools
import json
import math
import os
import random
import resource
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

import cuetrail

SOURCE = Path(cuetrail.__file__).parent
SECONDS, WALL, SLOW, EXAMPLES, NOTES = 10, 150, 3, 3, 1200
"""Processor time for the tests of one fault, and time by the clock; tests longer than SLOW are not used.

EXAMPLES is of how many examples of one test the calls are noted, NOTES for how long by the clock.
"""
UNKNOWN = 0.2
"""The seconds that a test may take whose calls are not noted."""
ON_NEO4J = "NEO4J_URI" in os.environ
LEFT_OUT = (
    "browser", "kill", "pdf", "damage", "fork", "process", "failing_files", "any_value_for", "signal", "tests/bench",
    "reliability", "lowest_versions", "_docs", "test_package", "test_layers", "test_source_map",
    "test_mirror_of_source",
)  # fmt: skip
Key = tuple[str, int]
"""A function: its file and its first line."""

OPPOSITES: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.Add: ast.Sub, ast.Sub: ast.Add,
    ast.Mult: ast.Add, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


# --- faults


def faults_in(function: ast.AST) -> Iterator[tuple[str, ast.AST, ast.AST]]:
    """Yields the faults that can be planted in a function: in words, the node, and what takes its place."""
    for node in ast.walk(function):
        match node:
            case ast.Compare(ops=[op, *_]) if type(op) in OPPOSITES:
                new = copy.copy(node)
                new.ops = [OPPOSITES[type(op)](), *node.ops[1:]]  # type: ignore[list-item]  # a comparison's opposite
                yield "comparison", node, new
            case ast.BinOp(op=op) if type(op) in OPPOSITES:
                new_sum = copy.copy(node)
                new_sum.op = OPPOSITES[type(op)]()  # type: ignore[assignment]  # an operator's opposite
                yield "operator", node, new_sum
            case ast.BoolOp(op=op):
                new_bool = copy.copy(node)
                new_bool.op = OPPOSITES[type(op)]()  # type: ignore[assignment]  # as above
                yield "and/or", node, new_bool
            case ast.If(test=test) | ast.IfExp(test=test):
                yield "negated condition", test, ast.UnaryOp(ast.Not(), test)
            case ast.Constant(value=bool(value)):
                yield "flag", node, ast.Constant(not value)
            case ast.Constant(value=int(value)):
                yield "number", node, ast.Constant(value + 1)
            case ast.Constant(value=float(value)):
                yield "number", node, ast.Constant(value * 2 + 0.1)
            case ast.Call(args=[_, _, *_]) if not any(isinstance(one, ast.Starred) for one in node.args[:2]):
                swapped = copy.copy(node)
                swapped.args = [node.args[1], node.args[0], *node.args[2:]]
                yield "swapped arguments", node, swapped
            case ast.Expr(value=ast.Call()):
                yield "dropped call", node, ast.Pass()
            case ast.Return(value=ast.AST()):
                yield "dropped result", node, ast.Return(ast.Constant(None))


Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(tree: ast.Module) -> Iterator[Function]:
    """The functions of a module and the methods of its classes, but not functions inside of functions."""
    bodies = [tree.body, *(node.body for node in tree.body if isinstance(node, ast.ClassDef))]
    yield from (node for body in bodies for node in body if isinstance(node, Function))


def first_line(function: Function) -> int:
    return min([function.lineno, *(one.lineno for one in function.decorator_list)])


class Swap(ast.NodeTransformer):
    """Puts one node in the place of another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> Any:
        return self.new if node is self.old else self.generic_visit(node)


@dataclass(frozen=True)
class Mutant:
    """One fault in one function: a node, and what takes its place."""

    file: Path
    tree: ast.Module
    function: Function
    what: str
    old: ast.AST
    new: ast.AST

    @property
    def key(self) -> Key:
        return str(self.file), first_line(self.function)

    def told(self) -> str:
        line = getattr(self.old, "lineno", self.function.lineno)
        before, after = ast.unparse(self.old), ast.unparse(ast.fix_missing_locations(copy.deepcopy(self.new)))
        where = f"{self.file.relative_to(SOURCE)}:{line} {self.function.name}"
        return f"{where}: {self.what}: {before[:150]!r} -> {after[:150]!r}"

    def code(self) -> CodeType:
        """The code of the function with the fault."""
        ast.copy_location(self.new, self.old)
        tree = ast.fix_missing_locations(Swap(self.old, self.new).visit(self.tree))
        whole = compile(tree, str(self.file), "exec")
        return next(code for code in codes(whole) if (code.co_filename, code.co_firstlineno) == self.key)


def mutants(file: Path) -> list[Mutant]:
    """All faults that can be planted in a file."""
    tree = ast.parse(file.read_text("utf-8"))
    bodies = [(function, body) for function in functions(tree) for body in function.body]
    found = (Mutant(file, tree, function, *fault) for function, body in bodies for fault in faults_in(body))
    return [one for one in found if ast.dump(one.old) != ast.dump(one.new)]


def codes(code: CodeType) -> Iterator[CodeType]:
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield one
            yield from codes(one)


def plant(mutant: Mutant) -> int:
    """Replaces the code of the function wherever it is; returns how many functions had it."""
    new, found = mutant.code(), 0
    for one in gc.get_objects():
        if not isinstance(one, FunctionType) or one.__code__.co_name != new.co_name:
            continue
        if (one.__code__.co_filename, one.__code__.co_firstlineno) == mutant.key:
            one.__code__ = new
            found += 1
    return found


# --- tests


class Loop:
    """A plugin of pytest: instead of running the tests once it runs those that a fault may concern, for each fault."""

    def __init__(self, seed: int, count: int, report: Path, folders: list[str]) -> None:
        self.chance, self.count, self.report, self.folders = random.Random(seed), count, report, folders
        self.calls = report.with_suffix(".calls.jsonl")
        self.noted: dict[str, tuple[float, set[Key]]] = {}
        self.failed = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed = self.failed or report.failed

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        # Imported here: pytest must see the plugin of hypothesis first.
        from hypothesis import settings

        settings.register_profile("few", settings.get_profile("cuetrail"), max_examples=15)
        settings.load_profile("few")
        items = {item.nodeid: item for item in session.items if wanted(item.nodeid)}
        self.calls.touch()
        self.note_all(items)
        examples = grouped(items)
        outcomes = Counter(line.split("\t")[0] for line in self.lines(self.report))
        for mutant in itertools.islice(self.drawn(), sum(outcomes.values()), self.count):
            known = self.known()
            callers = [(name, seconds) for name, (seconds, called) in known.items() if mutant.key in called]
            noted = {bare(name) for name in known}
            callers += [
                (names[0], UNKNOWN) for test, names in examples.items() if test not in noted and concerns(test, mutant)
            ]
            # A slow test must mirror the path well to come early.
            order = sorted((seconds / 4 ** likeness(name, mutant.file), name) for name, seconds in callers)
            others = [other for _, name in order for other in examples.get(bare(name), ())]
            chosen = [items[name] for name in dict.fromkeys([*(name for _, name in order), *others]) if name in items]
            outcome, by = self.outcome(mutant, chosen)
            outcomes[outcome] += 1
            with self.report.open("a") as out:
                out.write(f"{outcome}\t{len(chosen)} tests\t{mutant.told()}\t{by}\n")
        sys.stdout.write(f"\n{dict(outcomes)}\n")
        return True

    def note_all(self, items: dict[str, pytest.Item]) -> None:
        """Notes the calls of the first examples of each test, unless they are noted."""
        first = [name for names in grouped(items).values() for name in names[:EXAMPLES]]

        def left() -> list[str]:
            known = self.known()
            return [name for name in first if name not in known]

        until = time.monotonic() + NOTES
        while (
            (names := left())
            and (rest := until - time.monotonic()) > 0
            and in_a_copy(lambda: self.note_calls([items[name] for name in names]), rest)
        ):
            # The test that ended the process is noted as one that calls nothing.
            for lost in left()[: time.monotonic() < until]:
                self.note(lost, 0, [])

    def drawn(self) -> Iterator[Mutant]:
        """Draws faults: any line of the source as likely as any other."""
        files = sorted(file for folder in self.folders for file in (SOURCE / folder).rglob("*.py"))
        weights = [len(file.read_text("utf-8")) for file in files]
        while True:
            if possible := mutants(self.chance.choices(files, weights)[0]):
                yield self.chance.choice(possible)

    @staticmethod
    def lines(path: Path) -> list[str]:
        return path.read_text().splitlines() if path.exists() else []

    def known(self) -> dict[str, tuple[float, set[Key]]]:
        """The tests whose calls are noted, each with its time and the functions that it calls."""
        for line in self.lines(self.calls)[len(self.noted) :]:
            name, seconds, called = json.loads(line)
            self.noted[name] = seconds, {(file, number) for file, number in called}
        return self.noted

    def note(self, name: str, seconds: float, called: list[Key]) -> None:
        with self.calls.open("a") as file:
            file.write(json.dumps([name, seconds, called]) + "\n")

    def note_calls(self, items: list[pytest.Item]) -> None:
        """Runs tests and notes which functions of the source each one calls. One that fails calls nothing."""
        seen: set[CodeType] = set()

        def trace(frame: FrameType, _event: str, _argument: object) -> None:
            seen.add(frame.f_code)

        for item, following in zip(items, [*items[1:], None], strict=True):
            seen.clear()
            # What is raised in a callback of the collector is lost, and the test goes on: then its process is ended.
            resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + 3 * SLOW, resource.RLIM_INFINITY))
            self.failed, begun = False, time.process_time()
            threading.settrace(trace)
            sys.settrace(trace)
            with ended_after(SLOW, 6 * SECONDS):
                runtestprotocol(item, nextitem=following, log=False)
            sys.settrace(None)
            ours = [(c.co_filename, c.co_firstlineno) for c in set(seen) if c.co_filename.startswith(str(SOURCE))]
            self.note(item.nodeid, time.process_time() - begun, [] if self.failed else ours)

    def outcome(self, mutant: Mutant, items: list[pytest.Item]) -> tuple[str, str]:
        """Runs the tests on the fault in a copy of this process; returns how it ended, and the test that caught it."""
        if of_neo4j(mutant.file) != ON_NEO4J:
            return "left to the other run", ""
        if not items:
            return "not called", ""
        by = self.report.with_suffix(".by")
        by.write_text("")

        def run() -> None:
            resource.setrlimit(resource.RLIMIT_CPU, (3 * SECONDS, 3 * SECONDS + 1))
            if not plant(mutant):
                os._exit(4)
            begun, clock = time.process_time(), time.monotonic()
            for item, following in zip(items, [*items[1:], None], strict=True):
                by.write_text(item.nodeid)
                if any(report.failed for report in runtestprotocol(item, nextitem=following, log=False)):
                    os._exit(3)
                if time.process_time() - begun > SECONDS or time.monotonic() - clock > WALL:
                    os._exit(6)

        code = in_a_copy(run, WALL + 20 * SECONDS)
        known = {0: "survived", 3: "caught", 4: "not planted", 5: "not planted", 6: "survived the tests of its time"}
        return known.get(code, "caught by the end of its time or process"), by.read_text()


def of_neo4j(file: Path) -> bool:
    """Whether a file belongs to the engine for Neo4j."""
    return "neo4j" in file.parts


def wanted(test: str) -> bool:
    return ("neo4j" in test) == ON_NEO4J and not any(word in test for word in LEFT_OUT)


def bare(test: str) -> str:
    """The name of a test without its example."""
    return test.partition("[")[0]


def grouped(tests: Iterable[str]) -> dict[str, list[str]]:
    """The examples of each test."""
    found: dict[str, list[str]] = {}
    for test in tests:
        found.setdefault(bare(test), []).append(test)
    return found


def concerns(test: str, mutant: Mutant) -> bool:
    """Whether a test mirrors the top folder of a fault, or its file names the function."""
    return likeness(test, mutant.file) > 0 or mutant.function.name in text_of(test.partition("::")[0])


@cache
def text_of(path: str) -> str:
    return Path(path).read_text("utf-8")


def likeness(test: str, file: Path) -> int:
    """How much of the path of a source file a test mirrors: all of it, its folder, or the folders above."""
    source = file.relative_to(SOURCE).with_suffix("").parts
    path = Path(test.partition("::")[0]).with_suffix("").parts
    mirrored = [part.removeprefix("test_") for part in path if part not in ("tests", "src", "cuetrail")]
    alike = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(source, mirrored, strict=False))
    return len(list(alike))


class Late(BaseException):
    """A test took too long. Not an Exception: the examples of Hypothesis would be tried again to find a shorter one."""


@contextmanager
def ended_after(seconds: int, clock: int) -> Iterator[None]:
    """Lets a test fail after so much processor time or time by the clock."""

    def end(_signal: int, _frame: FrameType | None) -> None:
        raise Late

    signal.signal(signal.SIGALRM, end)
    signal.signal(signal.SIGPROF, end)
    signal.alarm(clock)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    except Late:
        pass
    finally:
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_PROF, 0)


def in_a_copy(work: Callable[[], None], most: float = math.inf) -> int:
    """Runs a function in a copy of this process; returns its exit code, or minus the signal that ended it."""
    if child := os.fork():
        deadline = time.monotonic() + most
        while time.monotonic() < deadline:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.05)
        os.kill(child, signal.SIGKILL)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    try:
        work()
    except BaseException:  # noqa: BLE001  # whatever it is, this copy ends here
        os._exit(5)
    os._exit(0)


def main() -> None:
    seed, count, report, *others = sys.argv[1:]
    folders, paths = (others[0] if others else "."), others[1:]
    loop = Loop(int(seed), int(count), Path(report), folders.split(","))
    sys.exit(pytest.main(["-q", "-n", "0", "-p", "no:cacheprovider", *paths], plugins=[loop]))


if __name__ == "__main__":
    main()
