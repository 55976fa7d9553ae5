"""Text search in fields: titles, headings and bodies, each with its own statistics and weight."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import pytest

from cuetrail.formulas import bm25, idf
from cuetrail.model import FieldWeights, Node, Scope, Tag, TextQuery, Where
from cuetrail.store.ports import Store
from cuetrail.store.write import Batch
from tests.store.contract.conftest import Engine
from tests.store.sqlite.index.test_text_search import (
    Scored,
    assert_exact,
    body_of,
    has_phrase,
    some_text,
    stored_length,
    tokens,
)

ME = Scope()
NO_FILTER = Where(quarantined=True, archived=True)
ALL = FieldWeights(title=2.5, heading=1.0, body=1.0)
WEIGHTS = [
    FieldWeights(title=1.0, body=0.0),
    FieldWeights(heading=0.5, body=0.0),
    FieldWeights(body=1.0),
    FieldWeights(title=3.0, heading=0.25, body=1.5),
    ALL,
]
UNKNOWN = 3
"""A missing title or heading counts as one of so many words that no query has."""


def fields_of(node: Node) -> dict[str, list[str]]:
    props = node.props
    titles = [node.name or "", *node.aliases, props.get("title", ""), *props.get("aliases", ())]
    title = tokens("\n".join(dict.fromkeys(filter(None, titles))))
    return {"title": title, "heading": tokens(props.get("heading", "")), "body": body_of(node)}


def by_brute_force(nodes: Sequence[Node], query: TextQuery) -> list[Scored]:
    """Every match with the weighted sum of its BM25 in each field, the best first."""
    assert query.fields is not None
    weights = {field: weight for field in ("title", "heading", "body") if (weight := getattr(query.fields, field))}
    phrases = [words for words in map(tokens, query.phrases) if words]
    asked = set(tokens(query.words)) | {word for phrase in phrases for word in phrase}
    held = {node.id: fields_of(node) for node in nodes}
    scores: Counter[str] = Counter()
    for field, weight in weights.items():
        lengths = {id_: len(one[field]) or (0 if field == "body" else UNKNOWN) for id_, one in held.items()}
        mean = sum(lengths.values()) / max(len(lengths), 1)
        holding = Counter(word for one in held.values() for word in asked & set(one[field]))
        for id_, one in held.items():
            for word, times in Counter(word for word in one[field] if word in asked).items():
                length = stored_length(lengths[id_])
                scores[id_] += weight * bm25(times, length, mean, idf(len(nodes), holding[word]))
    found = []
    for node in nodes:
        texts = [held[node.id][field] for field in weights]
        if node.id in scores and all(any(has_phrase(text, phrase) for text in texts) for phrase in phrases):
            has_all = asked <= set().union(*texts)
            found.append(Scored(node.id, round(scores[node.id], 12), has_all, node.at))
    return sorted(found, key=lambda one: (-one.score, *one.rank))


def some_passage(chance: random.Random, number: int) -> Node:
    props = {
        "title": some_text(chance, 3) or None if chance.random() < 0.6 else None,
        "heading": some_text(chance, 4) or None if chance.random() < 0.4 else None,
        "aliases": [some_text(chance, 2)] if chance.random() < 0.2 else None,
    }
    return Node(
        f"n{number:03}",
        name=some_text(chance, 2) or None if chance.random() < 0.2 else None,
        aliases=("pear tree",) if chance.random() < 0.1 else (),
        text=chance.choice(["", "apple", some_text(chance), some_text(chance, 60)]),
        tag_details=(Tag("apple", "apple"),) if chance.random() < 0.2 else (),
        props={name: value for name, value in props.items() if value},
        at=chance.randint(0, 3),
    )


@pytest.mark.parametrize("seed", range(6))
def test_a_search_in_fields_equals_scoring_every_memory(engine: Engine, seed: int) -> None:
    chance = random.Random(seed)
    store = engine()
    nodes: dict[str, Node] = {}
    for first in (0, 30):
        some = [some_passage(chance, number) for number in range(first, first + 30)]
        some += [some_passage(chance, chance.randrange(first)) for _ in range(3) if first]
        store.write(ME, Batch(nodes=some))
        nodes |= {node.id: node for node in some}
    gone = chance.sample(sorted(nodes), 4)
    store.write(ME, Batch(remove_nodes=gone))
    living = [node for id_, node in nodes.items() if id_ not in gone]
    for weights in WEIGHTS:
        for _ in range(8):
            phrases = [chance.choice(["the apple", "apple", "pear tree"])] * (chance.random() < 0.2)
            query = TextQuery(some_text(chance, 5), tuple(phrases), fields=weights)
            limit = chance.choice((1, 3, 10, 100))
            assert_exact(store.text(ME, query, limit, NO_FILTER), by_brute_force(living, query), limit)


def found(store: Store, words: str, *phrases: str, **how: bool) -> list[str]:
    return [one.id for one in store.text(ME, TextQuery(words, phrases, fields=ALL, **how), 9, NO_FILTER)]


def test_titles_and_headings_are_searched_only_where_they_are_asked_for(store: Store) -> None:
    props = {"title": "Cold connector", "aliases": ["winter plug"], "heading": "Faults › Noise"}
    store.write(ME, Batch(nodes=[Node("a", text="It shrinks.", props=props), Node("b", text="noise of a plug")]))
    assert (found(store, "cold"), found(store, "winter"), found(store, "faults")) == (["a"], ["a"], ["a"])
    assert set(found(store, "noise plug")) == {"a", "b"}
    assert [one.id for one in store.text(ME, TextQuery("cold winter noise"), 9, NO_FILTER)] == ["b"]


def test_phrases_beginnings_and_typos_are_found_in_every_field(store: Store) -> None:
    props = {"title": "Cold connector", "heading": "Known faults"}
    store.write(
        ME, Batch(nodes=[Node("a", text="It shrinks.", props=props), Node("b", text="a connector in the cold")])
    )
    assert found(store, "", "cold connector") == ["a"]
    assert found(store, "", "connector shrinks") == []
    assert set(found(store, "connec", prefix=True)) == {"a", "b"}
    assert found(store, "known fau", prefix=True) == ["a"]
    assert found(store, "knwon", fuzzy=True) == found(store, "knwon", mend=True) == ["a"]
    assert found(store, "shrimks", mend=True) == ["a"]


def test_no_label_doubles_a_search_in_fields(store: Store) -> None:
    store.write(ME, Batch(nodes=[Node("a", text="an apple", tag_details=(Tag("apple", "apple"),))]))
    (plain,) = store.text(ME, TextQuery("apple"), 9, NO_FILTER)
    (weighted,) = store.text(ME, TextQuery("apple", fields=FieldWeights()), 9, NO_FILTER)
    assert (plain.boosted, weighted.boosted) == (True, False)
    assert plain.score == pytest.approx(2 * weighted.score)


def test_a_title_that_is_corrected_or_forgotten_is_found_no_more(store: Store) -> None:
    for title in ("Radio", "Mast"):
        store.write(ME, Batch(nodes=[Node("a", text="It hums.", props={"title": title, "heading": title})]))
        assert found(store, title) == ["a"]
    assert found(store, "radio") == []
    store.forget(ME, ["a"], 1)
    assert found(store, "mast") == []


def test_fields_of_weight_0_and_below_find_nothing(store: Store) -> None:
    store.write(ME, Batch(nodes=[Node("a", name="apple", text="apple", props={"title": "apple"})]))
    for weights in (FieldWeights(body=0.0), FieldWeights(-1.0, -1.0, -1.0)):
        for query in (TextQuery("apple", fields=weights), TextQuery("aple", fuzzy=True, fields=weights)):
            assert store.text(ME, query, 9, NO_FILTER) == []
