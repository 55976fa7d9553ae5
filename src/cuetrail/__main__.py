"""`python -m cuetrail` is the command line, and so is the command `cuetrail`."""

from __future__ import annotations

INTERRUPTED = 130


def run() -> None:
    """Run the command line. Who interrupts it while it is still being loaded gets no traceback either."""
    try:
        from cuetrail.cli import main
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None
    main()


if __name__ == "__main__":
    run()
