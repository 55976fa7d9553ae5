#!/usr/bin/env python3
"""A real Neo4j Community server for tests and for trying things out. It needs Java 17 or later, and Maven once.

    scripts/neo4j.py run                    start one, print how to reach it, stop it on Ctrl-C or when the input ends
    scripts/neo4j.py with COMMAND [ARG...]  run a command with NEO4J_URI, NEO4J_USER and NEO4J_PASSWORD set to one
    scripts/neo4j.py fetch                  only download it, into ${XDG_CACHE_HOME:-~/.cache}/cuetrail

A server has a temporary home and a free port of this machine. It ends with the process that started it, however that
one ends: a guard between the two holds a pipe, and stops the server when the other end is closed. Run it with the
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
# A server that runs for minutes and is asked everything a few times spends more time on compiling its own code well
# than that saves, and plans anew what was planned for the few records of the last test.
BRIEF = """dbms.cypher.min_replan_interval=10m
"""
BRIEF_JAVA = ("-XX:TieredStopAtLevel=1",)


class Missing(Exception):
    """Something that has to be installed first; the message says what."""


def cache_home() -> Path:
    """Where downloads are kept between runs."""
    base = os.environ.get("XDG_CACHE_HOME") or Path(os.environ.get("HOME", "~")).expanduser() / ".cache"
    return Path(base) / "cuetrail"


def java() -> str:
    """The Java to run. Raises Missing."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")
    if found is None:
        raise Missing("Neo4j needs Java 17 or later: install one (Debian: apt install openjdk-17-jre-headless)")
    return found


def fetch(cache: Path) -> Path:
    """The folder with the server's jars, downloaded if it is not there. Raises Missing."""
    kept = cache / f"neo4j-{VERSION}"
    if kept.is_dir():
        return kept
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
            Path(work, "lib").rename(kept)
        except OSError:
            # Another process was faster.
            if not kept.is_dir():
                raise
    return kept


@dataclass
class Server:
    """A server that was started here. `stop` ends it, and so does the end of this process."""

    uri: str
    user: str
    password: str = field(repr=False)
    guard: subprocess.Popen[bytes] = field(repr=False)
    home: Path

    def stop(self) -> None:
        """End the server and remove its home."""
        if self.guard.stdin is not None:
            self.guard.stdin.close()
        self.guard.wait()


def free_port() -> int:
    """A port nobody listens on at the moment."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@dataclass(frozen=True)
class Size:
    """How much memory a server may use, for itself and for pages of its store; `brief` is one for tests."""

    heap: str = "768m"
    pages: str = "128m"
    brief: bool = False


def start(
    cache: Path | None = None,
    home: Path | None = None,
    port: int | None = None,
    password: str = "",
    size: Size = Size(),  # noqa: B008  # frozen
) -> Server:
    """Start a server and wait until it answers. Raises Missing, and RuntimeError when it does not come up.

    With a `home` of an earlier one it goes on with that one's data; then give its password. Such a home is kept.
    """
    jars, program = fetch(cache or cache_home()), java()
    keep = home is not None
    place = home or Path(tempfile.mkdtemp(prefix="cuetrail-neo4j-"))
    (place / "conf").mkdir(parents=True, exist_ok=True)
    port = port or free_port()
    config = CONFIG.format(port=port, heap=size.heap, pages=size.pages) + (BRIEF if size.brief else "")
    (place / "conf" / "neo4j.conf").write_text(config, "utf-8")
    command = [sys.executable, __file__, "guard", "keep" if keep else "remove", program, str(jars), str(place)]
    command += [f"-Xmx{size.heap}", *(BRIEF_JAVA if size.brief else ())]
    guard = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True)
    server = Server(f"bolt://127.0.0.1:{port}", USER, password or secrets.token_urlsafe(12), guard, place)
    try:
        _wait(server, is_new=not password)
    except BaseException:
        server.stop()
        raise
    return server


def _wait(server: Server, is_new: bool) -> None:
    """Return when the server answers with its password. A new one is given it."""
    from neo4j import GraphDatabase
    from neo4j.exceptions import DriverError, Neo4jError

    until = time.monotonic() + START_SECONDS
    while True:
        login = (USER, USER if is_new else server.password)
        try:
            with GraphDatabase.driver(server.uri, auth=login, connection_timeout=5) as driver:
                # Run as they are: what a session retries by itself it retries ever more slowly.
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
                raise RuntimeError(f"Neo4j did not start: {error}\n{_last_words(server.home)}") from error
            time.sleep(0.2)


def _last_words(home: Path) -> str:
    """The end of what a server said."""
    log = home / "server.log"
    return log.read_text("utf-8", "replace")[-2000:] if log.exists() else ""


def guard(keep: bool, program: str, jars: str, home: Path, options: list[str]) -> int:
    """Run the server until standard input ends or the server does."""
    opens = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED]
    quick = ["-Xms256m", "-XX:+UseSerialGC", "-Xshare:auto"]
    command = [program, *quick, *options, "-cp", f"{jars}/*", *opens, MAIN]
    command += [f"--home-dir={home}", f"--config-dir={home}/conf"]
    with (home / "server.log").open("wb") as log:
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
    # Only the end of input ends it. Not before the server is started, which would ignore them too.
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
    # What is thrown away need not be closed with care.
    server.terminate() if gently else server.kill()
    try:
        server.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()


def main(arguments: list[str]) -> int:
    """What the command line asks for; the exit code."""
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
    # Beside this file lies nothing to import, and its own name must not hide the driver's.
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != Path(__file__).resolve().parent]
    sys.exit(main(sys.argv[1:]))
