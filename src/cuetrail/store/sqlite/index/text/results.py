"""A text search as callers see it: ids, or whole nodes, in the order that scores, times and ids give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from operator import itemgetter

from cuetrail.model import Node, SearchHit, TextQuery, Where
from cuetrail.model.fast_dataclass import maker
from cuetrail.store.sqlite.index.text.text_index import TextIndex
from cuetrail.store.sqlite.index.text.text_search import Matches, TextSearch
from cuetrail.store.sqlite.reader import Reader
from cuetrail.text.analyser import Terms, searchable_text

# Up to so many more nodes than are wanted are read at once, instead of first looking which of them are.
FEW_MORE = 10

_found = maker(SearchHit)

Favour = tuple[float, float]
"""What the scores of internal memories and of all others are multiplied by."""


def search(
    reader: Reader, index: TextIndex, query: TextQuery, limit: int, where: Where, favour: Favour, nodes: bool
) -> list[SearchHit]:
    """The best by BM25 and favour, with their nodes if they are asked for."""
    view = index.view_of(*reader.ids.moment())
    parts = None if reader.all else reader.parts
    sides: list[tuple[bool | None, float]] = [(None, favour[0])]
    if favour[0] != favour[1] and "external" in view.flags:
        # The best of all are among the best of each side.
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
    """Which of the matches that have equals hold every term: as their nodes say, or as the index does."""
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
