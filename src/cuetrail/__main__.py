"""`python -m cuetrail` is the command line."""

from __future__ import annotations

from cuetrail.cli import main

if __name__ == "__main__":
    main()
