"""An opened memory as one user sees it: the value that every verb's function is given."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cuetrail.config import on_server, server_home, without_login
from cuetrail.rerank.time_budget import RERANK_MS

if TYPE_CHECKING:
    from cuetrail.embed.vectors import Vectors
    from cuetrail.extract.facts_by_rules import FactReader
    from cuetrail.model import Scope
    from cuetrail.rerank.reranker import Reranker
    from cuetrail.store.ports import Store


@dataclass(frozen=True, slots=True)
class Session:
    """An opened memory for one scope: its address, engine, scope and vectors, and the function that reads facts from
    texts (`extractor`; None if no facts are read). `reranker` has `rerank_ms` milliseconds in each recall.
    """

    address: str
    store: Store
    scope: Scope
    vectors: Vectors
    extractor: FactReader | None
    reranker: Reranker | None = None
    rerank_ms: int = RERANK_MS

    @property
    def home(self) -> Path:
        """The memory's directory; for a memory on a server, a local folder for its settings, made if missing."""
        if not on_server(self.address):
            return Path(self.address).expanduser().resolve()
        home = server_home(without_login(self.address))
        home.mkdir(parents=True, exist_ok=True)
        return home

    def with_notice(self, notices: tuple[str, ...]) -> tuple[str, ...]:
        """Returns the notices, followed by the one on missing vectors if the embedder failed."""
        return (*notices, self.vectors.notice) if self.vectors.notice else notices
