"""`python -m cuetrail` is the command line, and so is the command `cuetrail`."""

from __future__ import annotations

import atexit
import gc

INTERRUPTED = 130


def run() -> None:
    """Runs the command line. An interrupt while its modules are loaded ends the process without a traceback."""
    # Without this, Python's garbage collector examines every loaded object before the process ends: the client waits.
    atexit.register(gc.freeze)
    try:
        from cuetrail.cli import main
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None
    main()


if __name__ == "__main__":
    run()
