"""Fixtures: an empty vault and an empty memory, as for ingest."""

from tests.ingest.conftest import memory, vault

__all__ = ["memory", "vault"]
