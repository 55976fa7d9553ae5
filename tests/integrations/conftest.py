"""The kits need packages that only an environment of their own has: `test_own_environment` runs them there."""

from __future__ import annotations

collect_ignore_glob = ["kit_*.py"]
