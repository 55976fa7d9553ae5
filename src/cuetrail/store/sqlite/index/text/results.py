"""Text search for callers: ids or whole nodes, ordered by score, time and id."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from operator import itemgetter

from cuetrail.model import Node, SearchHit, TextQuery, Where
from cuetrail.model.records import maker
from cuetrail.store.sqlite.index.text.text_index import TextIndex
from cuetrail.store.sqlite.index.text.text_search import Matches, TextSearch
from cuetrail.store.sqlite.reader import Reader
from cuetrail.text.normalise import Terms, searchable_text

# If at most so many more nodes match than are wanted, all are read at once.
FEW_MORE = 10

_found = maker(SearchHit)

Favour = tuple[float, float]
"""The factors for the scores of internal memories and of all others."""


def search(
    reader: Reader, index: TextIndex, query: TextQuery, limit: int, where: Where, favour: Favour, nodes: bool
) -> list[SearchHit]:
    """Returns the best by BM25 times favour, with their nodes if asked for."""
    view = index.view_of(*reader.ids.moment())
    parts = None if reader.all else reader.parts
    sides: list[tuple[bool | None, float]] = [(None, favour[0])]
    if favour[0] != favour[1] and "external" in view.flags:
        # The best of all are among the best of internal memories and of others.
        sides = [(True, favour[0]), (False, favour[1])]
    rows: list[tuple[float, bool, int, str, int, SearchHit]] = []
    for internal, factor in sides:
        texts = TextSearch(view, index.analyser, parts, where, internal)
        matches = texts.run(query, limit)
        keys = [match.key for match in matches.found]
        whole = reader.nodes_by_key(keys) if nodes and len(keys) <= limit + FEW_MORE else {}
        shown = {key: (node.id, node.at) for key, node in whole.items()} if whole else reader.shown(keys)
        full = _full(texts, matches, whole)
        for match in (match for match in matches.found if match.key in shown):
            (id_, at), score = shown[match.key], match.score * factor
            found = _found(id_, score, match.boosted, factor, whole.get(match.key), match.key)
            rows.append((-score, match.key not in full, -at, id_, match.key, found))
    best = sorted(rows, key=itemgetter(0, 1, 2, 3))[:limit]
    return _with_nodes(best, reader) if nodes and not all(row[5].node for row in best) else [row[5] for row in best]


def _full(texts: TextSearch, matches: Matches, nodes: Mapping[int, Node]) -> set[int]:
    """Returns the keys of matches with equal scores that contain every term, by their nodes or by the index."""
    if not matches.tied:
        return set()
    if not nodes:
        return texts.holding_all(matches.terms, matches.tied)
    terms = Terms(matches.terms)
    tied = ((key, nodes[key]) for key in matches.tied if key in nodes)
    return {key for key, node in tied if terms.all_in(searchable_text(node.name, node.aliases, node.text))}


def _with_nodes(rows: list[tuple[float, bool, int, str, int, SearchHit]], reader: Reader) -> list[SearchHit]:
    missing = reader.nodes_by_key([key for *_, key, found in rows if found.node is None])
    return [replace(found, node=missing[key]) if key in missing else found for *_, key, found in rows]
