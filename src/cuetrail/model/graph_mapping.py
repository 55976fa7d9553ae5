"""The mapping of a graph on a Neo4j server: which labels, relationship types and properties mean what."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from cuetrail.text.cypher import ELEMENT_ID

IdType = Literal["text", "integer"]

MOST_INTEGER = 2**63


@dataclass(frozen=True, slots=True)
class GraphMapping:
    """What the labels, types and properties of a graph mean.

    Only nodes with one of the `labels` and relationships of one of the `types` are seen; without any, all. `id`,
    `weight`, `tags`, `edge_id`, `text`, `name` and `time` are names of properties; "elementId()" in place of an id is
    the server's own. None: the graph has no such property. Ids are texts, or whole numbers if `id_type` is "integer".
    Weights are divided by `weight_scale`, so that the largest is 1; an edge without a weight has `missing_weight`.
    Tags are a list, or one text that `tag_separator` divides. A `time` is a date, or a number of milliseconds.
    `fulltext` is the name of a full-text index of the server, for activations that begin with a question.
    """

    labels: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    id: str = "id"
    id_type: IdType = "text"
    weight: str | None = "weight"
    weight_scale: float = 1.0
    missing_weight: float = 0.01
    tags: str | None = "tags"
    tag_separator: str | None = None
    edge_id: str = ELEMENT_ID
    name: str | None = "name"
    text: str | None = "text"
    time: str | None = None
    fulltext: str | None = None

    def stored_id(self, id_: str) -> str | int | None:
        """Returns an id as the graph stores it; None if no node of the graph can have it.

        >>> GraphMapping(id_type="integer").stored_id("7"), GraphMapping(id_type="integer").stored_id("07")
        (7, None)
        """
        if self.id_type == "text" or self.id == ELEMENT_ID:
            return id_
        try:
            number = int(id_)
        except ValueError:
            return None
        return number if str(number) == id_ and -MOST_INTEGER <= number < MOST_INTEGER else None


@dataclass(frozen=True, slots=True)
class GraphFinding:
    """One line of a check: what was looked at (`check`), how it is, and what to do where it does not fit.

    `level` is "fits", "advice" (it works, but slowly or incompletely) or "fault" (it does not work).
    """

    check: str
    level: Literal["fits", "advice", "fault"]
    message: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class GraphCheck:
    """How a mapping fits a graph: counts of nodes and relationships it covers, how many were looked at, findings."""

    nodes: int
    edges: int
    sampled: int
    findings: tuple[GraphFinding, ...]

    @property
    def fits(self) -> bool:
        """True if there is no fault."""
        return all(one.level != "fault" for one in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Returns plain data for JSON."""
        return {"fits": self.fits, **asdict(self)}
