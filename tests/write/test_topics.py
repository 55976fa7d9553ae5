"""`add` reads the title of a text and what it is about. Verbs that take a name mean what they meant before."""

from __future__ import annotations

import pytest

from cuetrail import Memory
from cuetrail.errors import NotFound

FILM = "Ed Wood (film)\nEd Wood is a 1994 American film."


def test_a_title_is_kept_as_a_property_and_the_text_stays(memory: Memory) -> None:
    node = memory.add(FILM)
    assert (node.text, node.name) == (FILM, None)
    assert node.props == {"title": "Ed Wood (film)", "about": ["Ed Wood (film)", "Ed Wood"]}


def test_given_properties_win_and_named_nodes_and_turns_have_none(memory: Memory) -> None:
    assert memory.add(FILM, id="a", props={"about": ["me"]}).props == {"about": ["me"]}
    assert memory.add(FILM, id="b", props={"title": "Mine"}).props == {"title": "Mine", "about": ["Mine", "Ed Wood"]}
    assert memory.add(FILM, name="Film").props == {}
    assert memory.add("Ann Lee: Ed Wood is a film.", source="chat").props == {}
    assert memory.add("LiHua: Hey, are you there\nAnn: Yes, I am at home.").props == {}


def test_an_edit_reads_the_new_text(memory: Memory) -> None:
    node = memory.add(FILM, props={"by": "Ann"})
    assert memory.edit(node.id, text="Oslo is a city.").props == {"by": "Ann", "about": ["Oslo"]}
    assert memory.edit(node.id, text="It rains.").props == {"by": "Ann"}
    own = memory.add("Oslo is a city.", id="own", props={"title": "Towns"})
    assert memory.edit(own.id, text="Bergen is a city.").props["title"] == "Towns"


def test_a_text_about_a_name_neither_takes_nor_blocks_that_name(memory: Memory) -> None:
    memory.add("Oslo is a city.", id="text")
    assert memory.get("Oslo") is None
    with pytest.raises(NotFound):
        memory.link("Oslo", "text")
    fact = memory.fact("Oslo", "lies_in", "Norway")
    entity = memory.get("Oslo")
    assert entity is not None
    assert (entity.id, entity.kind) == (fact.subject, "entity")
    memory.link("Oslo", "text")


def test_a_forgotten_name_does_not_keep_out_texts_about_it(memory: Memory) -> None:
    memory.add(name="Ines Okafor of Turin", kind="person", id="ines")
    memory.forget("ines")
    assert memory.add("Ines Okafor of Turin is a baker.").props == {"about": ["Ines Okafor of Turin"]}


def test_what_is_left_of_a_text_says_nothing_of_the_forgotten_sentence(memory: Memory) -> None:
    memory.add("Ines Okafor was a spy of the crown.", id="secret")
    memory.forget("secret")
    memory.add_many([{"text": "Ines Okafor was a spy of the crown. She lived in Turin for years.", "id": "cut"}])
    node = memory.get("cut")
    assert node is not None
    assert (node.text, node.props) == ("She lived in Turin for years.", {})
    assert not memory.store.named(memory.scope, ["ines okafor"], by="topic")
