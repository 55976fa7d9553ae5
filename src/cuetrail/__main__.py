"""`python -m cuetrail` is the command line, and so is the command `cuetrail`."""

from __future__ import annotations

import atexit
import gc

INTERRUPTED = 130


def run() -> None:
    """Run the command line. Who interrupts it while it is still being loaded gets no traceback either."""
    # At the end Python would look through all that was loaded for what is no longer needed, and a client waits for it.
    atexit.register(gc.freeze)
    try:
        from cuetrail.cli import main
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None
    main()


if __name__ == "__main__":
    run()
