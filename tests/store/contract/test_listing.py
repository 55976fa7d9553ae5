"""Lists of nodes by time and of labels by count: complete, ordered, and within the scope."""

from __future__ import annotations

import random
from dataclasses import replace

from cuetrail.model import Life, Node, Provenance, Scope, Tag, Where
from cuetrail.store.ports import Store
from cuetrail.store.read import Labelled, PageRequest
from cuetrail.store.write import Batch

ME = Scope()
HIDDEN: dict[str, Provenance] = {"q": "quarantine", "i": "internal"}


def tagged(*names: str) -> tuple[Tag, ...]:
    return tuple(Tag(name, name) for name in names)


def ids(store: Store, page: PageRequest, scope: Scope = ME) -> list[str]:
    return [one.node.id for one in store.page(scope, page)]


def fill(store: Store, number: int = 40) -> list[Node]:
    """Nodes of few times, so that many share one."""
    chance = random.Random(7)
    nodes = [
        Node(
            f"n{at:02}", kind=chance.choice(["atom", "person", "storyline"]), at=chance.randrange(5),
            tag_details=tagged(*chance.sample(["radio", "field", "counts"], 2)), buckets=(chance.choice("ab"),),
            provenance=chance.choice(["internal", "internal", "quarantine"]),
            life=Life(state=chance.choice(["candidate", "archived"])), text=f"text {at}",
        )
        for at in range(number)
    ]  # fmt: skip
    store.write(ME, Batch(nodes=nodes))
    return nodes


def expected(nodes: list[Node], where: Where) -> list[str]:
    """The same list, made by looking at every node."""
    kept = [
        (node.at, number, node.id)
        for number, node in enumerate(nodes)
        if set(where.tags) <= set(node.tags)
        and (not where.buckets or set(where.buckets) & set(node.buckets))
        and (node.kind in where.kinds if where.kinds else node.kind != "storyline")
        and (where.since is None or node.at >= where.since)
        and (where.until is None or node.at <= where.until)
        and (where.quarantined or node.provenance != "quarantine")
        and (where.archived or node.life.state != "archived")
    ]
    return [id_ for *_, id_ in sorted(kept, reverse=True)]


def test_a_list_is_what_looking_at_every_node_gives(store: Store) -> None:
    nodes = fill(store)
    for where in (
        Where(),
        Where(quarantined=True, archived=True),
        Where(tags=("radio",), archived=True),
        Where(tags=("radio", "field"), buckets=("a",)),
        Where(buckets=("a", "b"), quarantined=True),
        Where(kinds=("storyline", "person"), archived=True),
        Where(since=1, until=3),
        Where(tags=("unknown",)),
    ):
        assert ids(store, PageRequest(100, where)) == expected(nodes, where), where


def test_pages_make_the_whole_list_also_while_nodes_go(store: Store) -> None:
    everything = Where(quarantined=True, archived=True)
    whole = expected(fill(store), everything)
    seen: list[str] = []
    after = None
    while some := store.page(ME, PageRequest(15, everything, after=after)):
        seen += [one.node.id for one in some]
        after = some[-1].spot
        store.write(ME, Batch(remove_nodes=[some[-1].node.id]))
    assert seen == whole


def test_what_is_set_aside_can_be_listed_alone(store: Store) -> None:
    nodes = [Node(id_, at=at, provenance=provenance) for at, (id_, provenance) in enumerate(HIDDEN.items())]
    store.write(ME, Batch(nodes=nodes))
    assert ids(store, PageRequest(9, provenance="quarantine")) == ["q"]
    assert ids(store, PageRequest(9, provenance="internal")) == ["i"]
    assert ids(store, PageRequest(9)) == ["i"]


def test_nobody_elses_nodes_and_labels_are_listed(store: Store) -> None:
    ann, ben = Scope(user="ann", teams=("ops",)), Scope(user="ben", teams=("ops",), share="ops")
    store.write(ann, Batch(nodes=[Node("a", at=1, tag_details=tagged("radio"))]))
    store.write(ben, Batch(nodes=[Node("b", at=2, tag_details=tagged("radio"), buckets=("work",))]))
    store.write(replace(ben, share=None), Batch(nodes=[Node("c", at=3, tag_details=tagged("secret"))]))
    assert ids(store, PageRequest(9), ann) == ["b", "a"]
    assert store.labels(ann, "tag", "", 9) == [Labelled("radio", 2)]
    assert store.labels(ann, "bucket", "", 9) == [Labelled("work", 1)]
    assert store.labels(ben, "tag", "", 9) == [Labelled("radio", 1), Labelled("secret", 1)]


def test_labels_come_by_how_many_nodes_have_them(store: Store) -> None:
    store.write(
        ME, Batch(nodes=[Node("a", tag_details=tagged("radio", "rain")), Node("b", tag_details=tagged("radio"))])
    )
    store.write(ME, Batch(nodes=[Node("c", tag_details=(Tag("q1", "Q1", "temporal"),), buckets=("work",))]))
    assert store.labels(ME, "tag", "", 9) == [Labelled("radio", 2), Labelled("rain", 1)]
    assert store.labels(ME, "automatic", "", 9) == [Labelled("q1", 1)]
    assert store.labels(ME, "tag", "ra", 1) == [Labelled("radio", 2)]
    assert store.labels(ME, "bucket", "", 9) == [Labelled("work", 1)]
    store.write(ME, Batch(remove_nodes=["a", "b", "c"]))
    assert store.labels(ME, "tag", "", 9) == []
    assert store.labels(ME, "automatic", "", 9) == []


def test_a_tag_of_people_and_of_a_rule_is_listed_under_both_each_with_its_own_nodes(store: Store) -> None:
    by_rule = {"b": (Tag("radio", "radio", "auto"),), "c": (Tag("radio", "radio", "infected"),)}
    nodes = [Node("a", text="x", tag_details=tagged("radio"))]
    store.write(ME, Batch(nodes=[*nodes, *(Node(id_, text="x", tag_details=tags) for id_, tags in by_rule.items())]))
    assert store.labels(ME, "tag", "", 9) == [Labelled("radio", 1)]
    assert store.labels(ME, "automatic", "", 9) == [Labelled("radio", 2)]
    counts = store.stats(ME)
    assert (counts.tags, counts.automatic_tags) == (1, 1)
    assert ids(store, PageRequest(9, Where(tags=("radio",)))) == ["c", "b", "a"]


def test_a_tag_that_a_person_gives_after_a_rule_is_the_persons(store: Store) -> None:
    ruled = Node("a", text="x", tag_details=(Tag("radio", "radio", "auto"), Tag("q1", "Q1", "temporal")))
    store.write(ME, Batch(nodes=[ruled]))
    assert store.labels(ME, "tag", "", 9) == []
    store.write(ME, Batch(nodes=[replace(ruled, tag_details=(Tag("radio", "Radio"), *ruled.tag_details[1:]))]))
    assert store.labels(ME, "tag", "", 9) == [Labelled("radio", 1)]
    assert store.labels(ME, "automatic", "", 9) == [Labelled("q1", 1)]
    assert store.doctor(False, None) == []
