#!/usr/bin/env python3
"""Runs a Neo4j Community server for tests and experiments. It needs Java 17 or later, and Maven for the download.

    scripts/neo4j.py run                    start a server, print its address, stop it on Ctrl-C or at the end of stdin
    scripts/neo4j.py with COMMAND [ARG...]  run a command with NEO4J_URI, NEO4J_USER and NEO4J_PASSWORD of a server
    scripts/neo4j.py fetch                  only download the server, to ${XDG_CACHE_HOME:-~/.cache}/cuetrail

A server has a temporary folder and a free port. It stops when the process that started it ends, also after a crash: a
guard process between the two reads a pipe, and stops the server when the pipe is closed. Run this script with the
Python of .venv, which has the driver (`make setup`).
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

VERSION = "5.26.25"
MAIN = "org.neo4j.server.CommunityEntryPoint"
OPENED = ("java.nio", "java.io", "sun.nio.ch")
START_SECONDS, STOP_SECONDS = 120.0, 20.0
USER = "neo4j"

POM = f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>cuetrail</groupId><artifactId>server</artifactId><version>1</version>
  <dependencies><dependency>
    <groupId>org.neo4j</groupId><artifactId>neo4j</artifactId><version>{VERSION}</version>
  </dependency></dependencies>
</project>
"""

CONFIG = """server.bolt.listen_address=127.0.0.1:{port}
server.bolt.advertised_address=127.0.0.1:{port}
server.default_listen_address=127.0.0.1
server.http.enabled=false
server.memory.heap.max_size={heap}
server.memory.pagecache.size={pages}
dbms.usage_report.enabled=false
db.tx_log.rotation.retention_policy=keep_none
db.tx_log.preallocate=false
"""
# For tests: a server that runs for minutes loses more time by optimising its own code than it gains, and by planning
# queries again that were planned for the few records of the last test.
BRIEF = """dbms.cypher.min_replan_interval=10m
"""
BRIEF_JAVA = ("-XX:TieredStopAtLevel=1",)
READ_ONLY = """server.databases.read_only=neo4j
"""


class Missing(Exception):
    """A program is missing. The message says what to install."""


def cache_home() -> Path:
    """Returns the folder for downloads."""
    base = os.environ.get("XDG_CACHE_HOME") or Path(os.environ.get("HOME", "~")).expanduser() / ".cache"
    return Path(base) / "cuetrail"


def java() -> str:
    """Returns the path of Java. Raises Missing."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")
    if found is None:
        raise Missing("Neo4j needs Java 17 or later: install one (Debian: apt install openjdk-17-jre-headless)")
    return found


def fetch(cache: Path) -> Path:
    """Downloads the server if needed, and returns the folder of its jars. Raises Missing."""
    folder = cache / f"neo4j-{VERSION}"
    if folder.is_dir():
        return folder
    maven = shutil.which("mvn")
    if maven is None:
        raise Missing("the Neo4j server is fetched with Maven, once: install it (Debian: apt install maven)")
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix=".fetching-") as work:
        Path(work, "pom.xml").write_text(POM, "utf-8")
        command = [maven, "-q", "-B", "-f", f"{work}/pom.xml", "dependency:copy-dependencies"]
        command += ["-DincludeScope=runtime", f"-DoutputDirectory={work}/lib"]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Missing(f"Maven could not fetch Neo4j {VERSION}:\n{(done.stdout + done.stderr).strip()[-2000:]}")
        try:
            Path(work, "lib").rename(folder)
        except OSError:
            # Another process has downloaded it meanwhile.
            if not folder.is_dir():
                raise
    return folder


@dataclass
class Server:
    """A running server. It stops with `stop`, or when this process ends."""

    uri: str
    user: str
    password: str = field(repr=False)
    guard: subprocess.Popen[bytes] = field(repr=False)
    home: Path

    def stop(self) -> None:
        """Stops the server and deletes its temporary folder."""
        if self.guard.stdin is not None:
            self.guard.stdin.close()
        self.guard.wait()


def free_port() -> int:
    """Returns a free port."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@dataclass(frozen=True)
class Size:
    """The memory of a server: its heap and its page cache. `brief`: settings for short tests."""

    heap: str = "768m"
    pages: str = "128m"
    brief: bool = False


def start(
    cache: Path | None = None,
    home: Path | None = None,
    port: int | None = None,
    password: str = "",
    size: Size = Size(),  # noqa: B008  # frozen
    *,
    read_only: bool = False,
) -> Server:
    """Starts a server and waits until it answers. Raises Missing, or RuntimeError if it does not start.

    `home` is the folder of an earlier server, whose data and password are used. It is not deleted at the end. With
    `read_only` the server refuses every write to its memory.
    """
    jars, program = fetch(cache or cache_home()), java()
    keep = home is not None
    folder = home or Path(tempfile.mkdtemp(prefix="cuetrail-neo4j-"))
    (folder / "conf").mkdir(parents=True, exist_ok=True)
    port = port or free_port()
    config = CONFIG.format(port=port, heap=size.heap, pages=size.pages) + (BRIEF if size.brief else "")
    config += READ_ONLY if read_only else ""
    (folder / "conf" / "neo4j.conf").write_text(config, "utf-8")
    command = [sys.executable, __file__, "guard", "keep" if keep else "remove", program, str(jars), str(folder)]
    command += [f"-Xmx{size.heap}", *(BRIEF_JAVA if size.brief else ())]
    guard = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True)
    server = Server(f"bolt://127.0.0.1:{port}", USER, password or secrets.token_urlsafe(12), guard, folder)
    try:
        _wait(server, is_new=not password)
    except BaseException:
        server.stop()
        raise
    return server


def _wait(server: Server, is_new: bool) -> None:
    """Waits until the server accepts its password, which is set first if the server is new. Raises RuntimeError."""
    from neo4j import GraphDatabase
    from neo4j.exceptions import DriverError, Neo4jError

    until = time.monotonic() + START_SECONDS
    while True:
        login = (USER, USER if is_new else server.password)
        try:
            with GraphDatabase.driver(server.uri, auth=login, connection_timeout=5) as driver:
                # Not in a managed transaction: the driver would retry it with growing delays.
                if not is_new:
                    with driver.session(database="neo4j") as session:
                        session.run("RETURN 1").consume()
                    return
                with driver.session(database="system") as session:
                    change = "ALTER CURRENT USER SET PASSWORD FROM $old TO $new"
                    session.run(change, old=USER, new=server.password).consume()
                is_new = False
        except (DriverError, Neo4jError, OSError) as error:
            if server.guard.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"Neo4j did not start: {error}\n{_log_end(server.home)}") from error
            time.sleep(0.2)


def _log_end(home: Path) -> str:
    """Returns the end of the log of a server."""
    log = home / "server.log"
    return log.read_text("utf-8", "replace")[-2000:] if log.exists() else ""


def guard(keep: bool, program: str, jars: str, home: Path, options: list[str]) -> int:
    """Runs the server until stdin or the server ends, and returns the exit code of the server."""
    opens = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED]
    quick = ["-Xms256m", "-XX:+UseSerialGC", "-Xshare:auto"]
    command = [program, *quick, *options, "-cp", f"{jars}/*", *opens, MAIN]
    command += [f"--home-dir={home}", f"--config-dir={home}/conf"]
    with (home / "server.log").open("wb") as log:
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
    # Only the end of stdin stops it. Set after the start of the server, which would inherit the ignored signals.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_stop_at_end_of_input, args=(server, keep), daemon=True).start()
    code = server.wait()
    if not keep:
        shutil.rmtree(home, ignore_errors=True)
    return code


def _stop_at_end_of_input(server: subprocess.Popen[bytes], gently: bool) -> None:
    while os.read(0, 4096):
        pass
    # A temporary database need not be closed properly.
    server.terminate() if gently else server.kill()
    try:
        server.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()


def main(arguments: list[str]) -> int:
    """Runs the command of the command line and returns the exit code."""
    try:
        match arguments:
            case ["guard", kept, program, jars, home, *options]:
                return guard(kept == "keep", program, jars, Path(home), options)
            case ["fetch"]:
                print(fetch(cache_home()))
            case ["run"]:
                server = start()
                print(f"NEO4J_URI={server.uri}\nNEO4J_USER={server.user}\nNEO4J_PASSWORD={server.password}", flush=True)
                try:
                    while os.read(0, 4096):
                        pass
                except KeyboardInterrupt:
                    pass
                finally:
                    server.stop()
            case ["with", *command] if command:
                server = start()
                known = {"NEO4J_URI": server.uri, "NEO4J_USER": server.user, "NEO4J_PASSWORD": server.password}
                try:
                    return subprocess.run(command, env={**os.environ, **known}, check=False).returncode
                finally:
                    server.stop()
            case _:
                print(__doc__, file=sys.stderr)
                return 2
    except (Missing, RuntimeError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    # Remove this folder from the path: this file must not hide the driver, which is also called neo4j.
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != Path(__file__).resolve().parent]
    sys.exit(main(sys.argv[1:]))
