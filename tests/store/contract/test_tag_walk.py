"""A tag walk returns what reading every node would return, and sees each write at once."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from cuetrail.formulas import gravity, idf
from cuetrail.model import Label, Life, Node, Origin, Rank, Scope, Tag, TextQuery, WalkQuery, WalkSeed, Where
from cuetrail.store.ports import Store
from cuetrail.store.write import Batch
from tests.store.contract.test_search import passes

ME = Scope()
ANYTHING = Where(quarantined=True, archived=True)
HOUR = 3_600_000
WORDS = ("apple", "pear", "plum", "fig")
TAGS = [f"t{i}" for i in range(12)]
BUCKETS = ["work", "home", "field"]


def tags(*names: str) -> tuple[Tag, ...]:
    return tuple(Tag(name, name) for name in names)


def some_node(chance: random.Random, id_: str) -> Node:
    """Tags by Zipf's law; few words, times and hashes, so that there are ties of every kind."""
    drawn = {TAGS[min(int(chance.paretovariate(0.7)) - 1, 11)] for _ in range(chance.choice((0, 1, 2, 3, 9)))}
    origins: tuple[Origin, ...] = ("user", "auto", "temporal")
    return Node(
        id_,
        kind=chance.choice(("atom", "atom", "person")),
        text=" ".join(chance.sample(WORDS, chance.choice((0, 1, 1, 2)))),
        tag_details=tuple(Tag(name, name, chance.choice(origins)) for name in sorted(drawn)),
        buckets=tuple(chance.sample(BUCKETS, chance.choice((0, 1, 1, 2)))),
        at=chance.choice((1, 2, 500)) * HOUR,
        provenance=chance.choice(("internal", "external", "quarantine")),
        simhash=chance.choice((None, 0, 2**64 - 1, 0xFF)),
        props=chance.choice(({}, {}, {"level": 2}, {"size": {"level": 1}})),
        life=Life(state=chance.choice(("candidate", "active", "archived"))),
    )


def joining(node: Node) -> set[Label]:
    timeless = {Label("tag", tag.name) for tag in node.tag_details if tag.origin != "temporal"}
    return timeless | {Label("bucket", bucket) for bucket in node.buckets}


def seed(node: Node) -> WalkSeed:
    return WalkSeed(node.id, tuple(sorted(joining(node))), node.at, node.simhash)


def by_looking_at_all(nodes: Sequence[Node], query: WalkQuery, where: Where) -> list[tuple[str, float]]:
    """The rule for walks, as the specification has it."""
    carriers = [node for node in nodes if node.tag_details or node.buckets]
    labels = {label for f in query.seeds for label in f.labels}
    idfs = {label: idf(len(carriers), sum(label in joining(n) for n in carriers)) for label in labels}
    words = set(" ".join((query.unlike.words, *query.unlike.phrases)).split())
    found = []
    for node in nodes:
        shared = labels & joining(node)
        silent = not node.text or node.props.get("level")
        if not shared or silent or words & set(node.text.split()) or not passes(node, where):
            continue
        if node.id not in {f.id for f in query.seeds}:
            value = sum(idfs[label] for label in shared)
            if query.rank == "gravity":
                value = max(pull(f, node) for f in query.seeds)
            # What nothing draws is not walked to.
            if value > 0:
                found.append((node, round(value, 9)))
    found.sort(key=lambda pair: (-pair[1], -pair[0].at, pair[0].id))
    return [(node.id, value) for node, value in found]


def pull(seed: WalkSeed, node: Node) -> float:
    shared = len(set(seed.labels) & joining(node))
    known = node.simhash is not None and seed.simhash is not None
    distance = (node.simhash ^ seed.simhash).bit_count() if known else 32  # type: ignore[operator]  # known
    return gravity(shared, (node.at - seed.at) / HOUR, distance)


def check(store: Store, nodes: Sequence[Node], chance: random.Random, scope: Scope = ME) -> None:
    """One walk from a few nodes, with a query, filters and a limit by chance."""
    query = WalkQuery(
        tuple(seed(node) for node in chance.sample(list(nodes), min(len(nodes), chance.choice((1, 3, 10))))),
        TextQuery(" ".join(chance.sample(WORDS, chance.choice((0, 1, 2, 4))))),
        chance.choice(("idf", "gravity")),
    )
    where = Where(
        tuple(chance.sample(TAGS, chance.choice((0, 0, 0, 1, 2)))),
        tuple(chance.sample(BUCKETS, chance.choice((0, 0, 0, 1, 2)))),
        chance.choice(((), (), ("atom",), ("none",))),
        chance.choice((None, None, 2 * HOUR)),
        chance.choice((None, None, 2 * HOUR)),
        chance.random() < 0.5,
        chance.random() < 0.5,
    )
    limit = chance.choice((1, 3, 10, 1000))
    wanted = by_looking_at_all(nodes, query, where)
    found = store.walk(scope, query, limit, where).found
    assert [one.node.id for one in found] == [id_ for id_, _ in wanted[:limit]], (query, where, limit)
    assert [one.score for one in found] == pytest.approx([score for _, score in wanted[:limit]], abs=1e-8)


@pytest.mark.parametrize("seed", range(12))
def test_a_walk_gives_what_looking_at_every_node_gives(store: Store, seed: int) -> None:
    chance = random.Random(seed)
    nodes: dict[str, Node] = {}
    for _ in range(5):
        fresh = [some_node(chance, f"n{chance.randrange(60):02}") for _ in range(chance.choice((1, 10, 40)))]
        gone = chance.sample(sorted(nodes), min(len(nodes), chance.choice((0, 0, 3))))
        store.write(ME, Batch(nodes=fresh, remove_nodes=gone))
        nodes = {id_: node for id_, node in nodes.items() if id_ not in gone} | {node.id: node for node in fresh}
        stored = list(store.get(ME, sorted(nodes)).values())
        for _ in range(8):
            check(store, stored, chance)
    assert store.doctor(False, None) == []


def test_a_walk_gives_what_looking_at_every_node_gives_in_a_larger_memory(store: Store) -> None:
    chance = random.Random(99)
    nodes = [some_node(chance, f"n{i:05}") for i in range(2_500)]
    store.write(ME, Batch(nodes=nodes))
    for _ in range(25):
        check(store, nodes, chance)
    # Now some of it changes, then more of it than is worth remembering apart.
    for count in (1, 50, 2_100):
        changed = [some_node(chance, node.id) for node in chance.sample(nodes, count)]
        gone = [f"n{chance.randrange(2_500):05}" for _ in range(3)]
        store.write(ME, Batch(nodes=[node for node in changed if node.id not in gone], remove_nodes=gone))
        nodes = list(store.get(ME, [node.id for node in nodes]).values())
        for _ in range(10):
            check(store, nodes, chance)
    assert store.doctor(False, None) == []


def walked(store: Store, query: WalkQuery, limit: int = 50, where: Where = ANYTHING, scope: Scope = ME) -> list[str]:
    return [one.node.id for one in store.walk(scope, query, limit, where).found]


def from_tag(*names: str, unlike: str = "", rank: Rank = "idf") -> WalkQuery:
    return WalkQuery((WalkSeed("start", tuple(Label("tag", name) for name in names)),), TextQuery(unlike), rank)


def test_a_walk_sees_each_write_at_once(store: Store) -> None:
    assert walked(store, from_tag("camp")) == []
    store.write(ME, Batch(nodes=[Node("a", text="one", tag_details=tags("camp"))]))
    assert walked(store, from_tag("camp")) == ["a"]
    store.write(ME, Batch(nodes=[Node("a", text="one", tag_details=tags("other"))]))
    assert walked(store, from_tag("camp")) == []
    store.write(ME, Batch(nodes=[Node("b", text="two", tag_details=tags("camp"))]))
    assert walked(store, from_tag("camp")) == ["b"]
    store.forget(ME, ["b"], 1)
    assert walked(store, from_tag("camp")) == []


def test_tags_match_tags_and_buckets_match_buckets(store: Store) -> None:
    nodes = [Node("tagged", text="x", tag_details=tags("red")), Node("filed", text="x", buckets=("red",))]
    store.write(ME, Batch(nodes=nodes))
    assert walked(store, from_tag("red")) == ["tagged"]
    bucket = WalkQuery((WalkSeed("start", (Label("bucket", "red"),)),), TextQuery(""))
    assert walked(store, bucket) == ["filed"]


def test_what_only_says_when_joins_nothing_but_can_be_filtered_by(store: Store) -> None:
    winter = Tag("winter", "winter", "temporal")
    nodes = [
        Node("by-time", text="x", tag_details=(winter,)),
        Node("by-user", text="x", tag_details=tags("winter")),
        Node("both", text="x", tag_details=(winter, *tags("camp"))),
        Node("camp", text="x", tag_details=tags("camp")),
    ]
    store.write(ME, Batch(nodes=nodes))
    assert walked(store, from_tag("winter")) == ["by-user"]
    assert walked(store, from_tag("camp"), where=replace(ANYTHING, tags=("winter",))) == ["both"]


def test_the_weight_of_a_label_counts_only_what_the_scope_sees(store: Store) -> None:
    other = Scope(user="other")
    store.write(other, Batch(nodes=[Node(f"o{i}", text="x", tag_details=tags("camp")) for i in range(20)]))
    store.write(ME, Batch(nodes=[Node("a", text="x", tag_details=tags("camp")), Node("b", text="x", buckets=("b",))]))
    walk = store.walk(ME, from_tag("camp"), 50, Where())
    assert [one.node.id for one in walk.found] == ["a"]
    assert walk.idfs == {Label("tag", "camp"): pytest.approx(idf(2, 1))}
    assert walk.found[0].score == pytest.approx(idf(2, 1))


def test_a_team_is_walked_with_and_strangers_are_not(store: Store) -> None:
    ann, bob = Scope(user="ann", teams=("ops",), share="ops"), Scope(user="bob", teams=("ops",))
    store.write(ann, Batch(nodes=[Node("shared", text="x", tag_details=tags("camp"))]))
    store.write(Scope(user="ann"), Batch(nodes=[Node("private", text="x", tag_details=tags("camp"))]))
    assert walked(store, from_tag("camp"), scope=bob) == ["shared"]
    assert walked(store, from_tag("camp"), scope=Scope(tenant="else", user="ann")) == []


def test_equals_come_newer_first_then_by_id_however_many_there_are(store: Store) -> None:
    at = {f"n{i:05}": i % 3 for i in range(5_000)}
    store.write(ME, Batch(nodes=[Node(i, text="x", tag_details=tags("camp"), at=t) for i, t in at.items()]))
    order = sorted(at, key=lambda i: (-at[i], i))
    assert walked(store, from_tag("camp"), limit=10) == order[:10]
    store.write(ME, Batch(nodes=[Node("n00004x", text="x", tag_details=tags("camp"), at=2)]))
    at["n00004x"] = 2
    order = sorted(at, key=lambda i: (-at[i], i))
    assert walked(store, from_tag("camp"), limit=2_000) == order[:2_000]


@pytest.mark.parametrize("rank", ["idf", "gravity"])
def test_where_nearly_all_carriers_match_the_query_the_others_are_found(store: Store, rank: Rank) -> None:
    nodes = [Node(f"n{i:05}", text="about ducks", tag_details=tags("ducks"), at=i) for i in range(4_000)]
    hidden = [Node(f"h{i}", text="feathers", tag_details=tags("ducks"), at=0) for i in range(3)]
    store.write(ME, Batch(nodes=nodes + hidden))
    assert walked(store, from_tag("ducks", unlike="duck", rank=rank)) == ["h0", "h1", "h2"]
    late = Node("late", text="a pond", tag_details=tags("ducks"), at=9)
    store.write(ME, Batch(nodes=[late, replace(hidden[1], text="duck feathers")]))
    order = ["late", "h0", "h2"] if rank == "idf" else ["h0", "h2", "late"]
    assert walked(store, from_tag("ducks", unlike="duck", rank=rank)) == order


def test_words_are_matched_as_the_search_matches_them(store: Store) -> None:
    texts = {"stem": "Connectors failed.", "typo": "a conector", "name": "cold", "other": "nothing"}
    nodes = [Node(id_, text=text, tag_details=tags("camp")) for id_, text in texts.items()]
    store.write(ME, Batch(nodes=[*nodes, Node("named", name="Connector", text="x", tag_details=tags("camp"))]))
    query = from_tag("camp", unlike="connector cold")
    assert walked(store, query) == ["other", "typo"]
    assert walked(store, replace(query, unlike=TextQuery("connector cold", fuzzy=True))) == ["other"]
    assert walked(store, replace(query, unlike=TextQuery("conn", prefix=True))) == ["name", "other", "typo"]
    assert walked(store, replace(query, unlike=TextQuery("", ("cold connector",)))) == ["other", "typo"]


def test_a_limit_of_nothing_and_labels_nobody_has_find_nothing(store: Store) -> None:
    store.write(ME, Batch(nodes=[Node("a", text="x", tag_details=tags("camp"))]))
    assert walked(store, from_tag("camp"), limit=0) == walked(store, from_tag("camp"), limit=-5) == []
    assert walked(store, from_tag("nowhere")) == walked(store, from_tag()) == []
    assert walked(store, WalkQuery((), TextQuery(""))) == []


def test_a_pull_fades_with_time_and_with_distance(store: Store) -> None:
    start = WalkSeed("start", (Label("tag", "camp"),), at=0, simhash=0)
    rows = {"near": (0, 0), "old": (1000 * HOUR, 0), "unlike": (0, 2**64 - 1), "unknown": (0, None)}
    nodes = [Node(i, text="x", tag_details=tags("camp"), at=at, simhash=hash_) for i, (at, hash_) in rows.items()]
    store.write(ME, Batch(nodes=nodes))
    found = store.walk(ME, WalkQuery((start,), TextQuery(""), "gravity"), 9, ANYTHING).found
    assert [one.node.id for one in found] == ["near", "old", "unknown"]
    assert [one.score for one in found] == pytest.approx([0.85, 0.85 * math.exp(-0.01), 0.425])
