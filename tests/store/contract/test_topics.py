"""Texts are found by their title and by what they are about, apart from nodes of that name."""

from __future__ import annotations

from datetime import UTC

from cuetrail.dream import RULE, DreamContext, dream
from cuetrail.model import Node, Scope
from cuetrail.store.ports import Store
from cuetrail.store.write import Batch

ME, YOU = Scope(), Scope(user="you")


def text(id_: str, *about: str) -> Node:
    return Node(id_, text="text", props={"about": list(about)})


def test_names_and_topics_are_looked_up_apart(store: Store) -> None:
    store.write(ME, Batch(nodes=[Node("city", name="Oslo"), text("a", "Oslo", "Christiania"), text("b", "oslo")]))
    assert store.named(ME, ["oslo"]) == {"oslo": ["city"]}
    assert store.named(ME, ["oslo", "christiania", "bergen"], by="topic") == {"oslo": ["a", "b"], "christiania": ["a"]}
    assert store.named(YOU, ["oslo"], by="topic") == {}


def test_a_topic_is_found_without_its_article_and_by_what_stands_before_a_bracket(store: Store) -> None:
    store.write(ME, Batch(nodes=[text("a", "The Rhine"), text("b", "Ed Wood (film)")]))
    assert store.named(ME, ["rhine", "the rhine"], by="topic") == {"rhine": ["a"], "the rhine": ["a"]}
    assert store.named(ME, ["ed wood"], 2, "topic") == {"ed wood": ["b"]}


def test_topics_follow_the_text_and_go_with_it(store: Store) -> None:
    store.write(ME, Batch(nodes=[text("a", "Oslo")]))
    store.write(ME, Batch(nodes=[text("a", "Bergen")]))
    assert store.named(ME, ["oslo", "bergen"], by="topic") == {"bergen": ["a"]}
    store.forget(ME, ["a"], 1)
    assert store.named(ME, ["bergen"], by="topic") == {}
    assert store.doctor(repair=False, progress=None) == []


def test_a_property_about_of_another_form_is_no_topic(store: Store) -> None:
    store.write(
        ME, Batch(nodes=[Node("a", text="x", props={"about": "Oslo"}), Node("b", props={"about": [7, ["Oslo"]]})])
    )
    assert store.named(ME, ["oslo", "7"], by="topic") == {}


def test_a_dream_adds_the_names_that_other_texts_use(store: Store) -> None:
    lund = Node("lund", text="Ann Bea Lund (born 1960) is a baker.", props={"about": ["Ann Bea Lund"]})
    store.write(ME, Batch(nodes=[lund, Node("shop", text="A shop that Bea Lund opened.")]))
    store.write(YOU, Batch(nodes=[Node("yours", text="Bea Lund (born 1971) is a sailor.")]))
    dream(DreamContext(store, ME, 1, UTC, RULE))
    assert store.named(ME, ["bea lund", "ann lund"], by="topic") == {"bea lund": ["lund"]}
    assert store.get(ME, ["lund"])["lund"].props == {"about": ["Ann Bea Lund"], "known_as": ["Bea Lund"]}
    store.forget(ME, ["shop"], 2)
    dream(DreamContext(store, ME, 3, UTC, RULE))
    assert store.named(ME, ["bea lund", "ann bea lund"], by="topic") == {"ann bea lund": ["lund"]}
    assert store.doctor(repair=False, progress=None) == []
