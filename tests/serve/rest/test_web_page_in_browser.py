"""The page in a real browser: search, why, graph, edit and forget, with mouse and keyboard."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import expect

from cuetrail import Memory
from cuetrail.serve.rest.auth import issue, revoke
from cuetrail.serve.rest.web_page import STATIC
from scripts import browser as script
from scripts import page as building

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Response

ON_CI = os.environ.get("CI") == "true"
ROOT = Path(__file__).parents[3]
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
NOW = 1_741_046_400_000
RAN = "window.scripts = []; window.ran = (field) => window.scripts.push(field)"
"""Run in a page first: scripts that run are listed."""


def script_in(field: str) -> str:
    """A script that says in which field it was, without spaces or capitals, which tags lose."""
    told = f"ran('{field}')"
    return f"<img/src='x'/onerror={told}><svg/onload={told}><script>{told}</script>"


def unavailable(reason: str) -> None:
    pytest.fail(reason) if ON_CI else pytest.skip(reason)


@pytest.fixture(scope="module")
def memory_place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("page") / "memory"
    with Memory(place, embedder=None) as memory:
        memory.ingest(ROOT / "examples" / "vault", now=NOW)
        memory.add(
            f"The malicious antenna note {script_in('text')} [x](javascript:ran('x')) [[javascript:ran('y')|y]]",
            id="evil",
            name=script_in("name"),
            aliases=[script_in("alias")],
            tags=[script_in("tag")],
            buckets=[script_in("bucket")],
            kind="person",
            source=f"{script_in('source')}.md",
            now=NOW,
        )
        memory.link("evil", "Receiver", weight=0.9, text=script_in("link"), now=NOW)
        memory.note("evil", script_in("note"), now=NOW)
        memory.fact("evil", "says", script_in("fact"), now=NOW)
        memory.add(f"Once {script_in('history')}", id="aside", source="javascript:ran('source')", now=NOW)
        memory.edit("aside", text="The malicious note set aside", now=NOW + 1)
        memory.ingest_text(
            f"# {script_in('title')}\n\nMalicious words of a file. [[{script_in('wikilink')}]]",
            source=f"{script_in('path')}.md",
            now=NOW,
        )
        memory.dream(now=NOW)
    return place


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser for all of it."""
    if not building.is_built(STATIC, building.stamp_of(ROOT / "web")):
        unavailable("the page is not built: `make page` does that, with Node.js")
    try:
        if ON_CI:
            script.install()
        with script.launched() as browser:
            yield browser
    except script.Missing as reason:
        unavailable(str(reason))


@pytest.fixture(scope="module")
def url(memory_place: Path, chromium: Browser) -> Iterator[str]:
    with script.serving(memory_place, "--embedder", "none") as url:
        yield url


@pytest.fixture
def page(chromium: Browser, url: str) -> Iterator[Page]:
    """A page that says at the end whether it asked for anything elsewhere, or failed at anything."""
    context = chromium.new_context(viewport={"width": 1280, "height": 860}, base_url=url)
    page = context.new_page()
    page.set_default_timeout(60_000)
    asked, wrong = list[str](), list[str]()
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: wrong.append(dialog.message))
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    yield page
    context.close()
    assert [one for one in asked if not one.startswith(url)] == []
    assert [one for one in wrong if not re.search("40[13]", one)] == []


def search(page: Page, cue: str, more: str = "") -> None:
    page.goto(f"/#/search?q={quote_plus(cue)}{more}")


def test_a_person_searches_asks_why_and_looks_at_the_graph(page: Page) -> None:
    search(page, "silent receiver", "&recipe=energy")
    hit = page.locator("article.related").first
    hit.wait_for()
    assert page.locator("article.direct").count() > 1
    assert hit.get_by_text("related", exact=True).count() == 1
    hit.get_by_role("button", name="Why?").click()
    stops = hit.get_by_role("list", name="The way from your question to this memory").get_by_role("listitem")
    assert "silent receiver" in stops.first.inner_text()
    energies = [float(one) for one in re.findall(r"energy\s+([\d.]+)", "\n".join(stops.all_inner_texts()))]
    assert len(energies) >= 2
    assert energies == sorted(energies, reverse=True)
    page.get_by_role("link", name="Graph").click()
    # Else what was drawn before might be looked at while it goes.
    with page.expect_response(lambda answer: '"max_depth":3' in (answer.request.post_data or "")):
        page.get_by_role("radio", name="Near").check()
    size = page.locator("[data-graph-size]")
    assert int(size.inner_text().split()[0]) > 5
    # It may have come to rest by itself, between a look and a click.
    page.evaluate("document.querySelector('[aria-label=\"Hold still\"]')?.click()")
    page.get_by_role("button", name="Lay out again").wait_for()
    canvas = page.locator(".stage")
    before = canvas.screenshot()
    page.get_by_label("Energy at least").fill("1")
    assert canvas.screenshot() != before, "what has little energy is no longer drawn"
    page.get_by_text("nodes as a list").click()
    page.locator(".node-list li button").first.click()
    page.get_by_role("complementary", name="The chosen node").get_by_role("link", name="Open").click()
    page.get_by_role("heading", name="Joined to").wait_for()


def test_direct_and_related_results_are_one_list_that_says_which_is_which_and_why(page: Page) -> None:
    search(page, "solder joint")
    page.locator("article.related").first.wait_for()
    assert page.locator("article.direct").count() > 0
    for card in page.locator("article.direct").all():
        assert card.locator("mark").count() > 0, "what is found directly has a word of the question"
        assert re.match("Has (all )?your word", card.locator(".reason").inner_text())
    for card in page.locator("article.related").all():
        assert card.locator("mark").count() == 0
        assert re.search(r"\w+ .+, which ", card.locator(".reason").inner_text()), "one sentence names what led to it"
        card.locator("[data-why]").click()
        stops = card.get_by_role("list", name="The way from your question to this memory").get_by_role("listitem")
        assert "found by your question" in stops.nth(1).inner_text(), "every way begins at what the question found"
        assert stops.count() > 2, "what was come to is behind that"


def test_the_graph_of_a_search_is_its_trail_and_can_be_filtered(page: Page) -> None:
    search(page, "solder joint")
    page.locator("article.related").first.wait_for()
    titles = {one.split(" › ")[0] for one in page.locator("article.hit h3").all_inner_texts()}
    page.get_by_role("link", name="Graph").click()
    page.get_by_role("radio", name="This search").wait_for(state="attached")
    page.get_by_text("nodes as a list").click()
    listed = page.locator(".node-list li").all_inner_texts()
    assert any("solder joint" in one and "question" in one for one in listed)
    assert all(any(title in one for one in listed) for title in titles), "every result is a node, by its title"
    page.get_by_role("button", name="Filters").click()
    page.get_by_role("combobox", name="Kind").select_option("source")
    page.get_by_text(re.compile(f"of {len(listed)} nodes as a list")).wait_for()
    kinds = page.locator(".node-list li .kind").all_inner_texts()
    assert kinds
    assert set(kinds) == {"note"}
    page.get_by_role("button", name="Show all").last.click()
    page.get_by_label("Find", exact=True).fill("no such name")
    page.get_by_text("0 fit").wait_for()


def test_a_narrative_is_told_fact_by_fact_and_an_address_of_another_version_is_read_as_far_as_it_goes(
    page: Page,
) -> None:
    search(page, "role of Ines Okafor", "&recipe=narrative")
    page.locator("article.hit").get_by_text("radio hardware").wait_for()
    search(page, "silent receiver", "&recipe=gone&tab=gone&budget=lots")
    page.locator("article.hit", has=page.locator("mark")).first.wait_for()
    page.locator("input[name=recipe][value=trail]:checked").wait_for(state="attached")


def test_what_no_memory_answers_is_refused_with_the_nearest_as_such(page: Page) -> None:
    search(page, "capital of the Mars colony")
    page.get_by_role("heading", name="I found nothing that answers").wait_for()
    assert "Mars" in page.get_by_role("region", name="No answer").inner_text()
    assert page.locator("article.hit").count() <= 3


MARKDOWN = """# Zinc kettle

The **zinc** kettle, see [its shop](https://example.org/zinc), `boil()` and [[Receiver|the receiver]].

- first
- [x] done

| part | kilos |
|---|---|
| lid | 2 |

```
zinc --hot
```

![a lid](https://example.org/lid.png) <b>letters</b> ![[plan.png]]
"""


def test_markdown_is_drawn_as_elements_and_loads_nothing(page: Page, memory_place: Path) -> None:
    with Memory(memory_place, embedder=None) as memory:
        memory.ingest_text(MARKDOWN, source="kitchen/a very long folder name/Zinc kettle.md", now=NOW)
    search(page, "zinc kettle")
    card = page.locator("article.hit").first
    assert card.locator("strong").inner_text() == "zinc"
    assert card.locator("td").all_inner_texts() == ["lid", "2"]
    assert [one.strip() for one in card.locator(".prose li").all_inner_texts()] == ["first", "☑ done"]
    assert card.locator("pre code").inner_text() == "zinc --hot"
    assert card.get_by_role("link", name="its shop").get_attribute("rel") == "noreferrer noopener"
    assert card.get_by_role("link", name="the receiver").get_attribute("href") == "#/node/Receiver"
    assert card.locator(".embed").all_inner_texts() == ["picture: a lid", "file: plan.png"]
    assert "<b>letters</b>" in card.inner_text()
    assert card.locator("img, b:text-is('letters')").count() == 0
    assert card.locator("mark").first.inner_text().lower() == "zinc"
    assert card.locator(".source").inner_text() == "kitchen/a very long folder name/Zinc kettle.md"


def test_text_that_nobody_can_read_as_markdown_neither_stops_the_page_nor_widens_it(
    page: Page, memory_place: Path
) -> None:
    with Memory(memory_place, embedder=None) as memory:
        memory.add("gnomon " + "_a_" * 20_000, now=NOW)
        memory.add("> " * 200 + "gnomon\n\n" + "- " * 200 + "x" * 900, now=NOW)
    page.set_viewport_size({"width": 400, "height": 800})
    search(page, "gnomon")
    page.locator("article.hit").nth(1).wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == 400


def test_a_passage_is_opened_inside_its_note_scrolled_to_and_marked(page: Page, memory_place: Path) -> None:
    filler = "It was a quiet week on the coast, and nobody came to look at the mast. " * 14
    text = "# Log\n\n" + "".join(f"## Week {at}\n\n{filler} Entry {at}.\n\n" for at in range(8))
    with Memory(memory_place, embedder=None) as memory:
        memory.ingest_text(text.replace("Entry 6", "The quokka appeared"), source="log.md", now=NOW)
    search(page, "quokka")
    card = page.locator("article.hit").first
    assert card.locator("h3").inner_text() == "Log › Week 6"
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    here = page.locator(".in-note[aria-current=true]")
    here.wait_for()
    assert "quokka" in here.inner_text()
    assert page.locator(".in-note").count() == 8
    expect(here).to_be_in_viewport()
    assert page.evaluate("scrollY") > 0
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link").click()
    page.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == page.url


def test_titles_names_and_tags_are_suggested_while_typing(page: Page) -> None:
    page.goto("/")
    page.get_by_text("the whole timeline").wait_for()
    field = page.get_by_role("combobox", name="Search")
    field.press_sequentially("skarh")
    page.get_by_role("option", name=re.compile("Skarholm lighthouse")).wait_for()
    field.press("ArrowDown")
    field.press("Enter")
    page.locator("section.found[data-cue='Skarholm lighthouse'] article.hit").first.wait_for()
    assert "q=Skarholm+lighthouse" in page.url
    field.fill("what about #rad")
    page.get_by_role("option", name=re.compile("^radio")).click()
    assert field.input_value() == "what about #radio "
    field.press_sequentially("#fi")
    page.get_by_role("option").first.wait_for()
    field.press("Escape")
    assert page.get_by_role("option").count() == 0


def test_results_come_while_a_person_types_and_count_as_used_when_they_are_asked_for(page: Page) -> None:
    page.goto("/#/browse")
    page.get_by_role("link", name="Search").click()
    page.get_by_text("the whole timeline").wait_for()
    field = page.get_by_role("combobox", name="Search")

    def is_counted(asked: str) -> Callable[[Response], bool]:
        return lambda answer: f'"record_access":{asked}' in (answer.request.post_data or "")

    with page.expect_response(is_counted("false")) as typed:
        field.press_sequentially("silent rece")
    page.locator("article.hit").first.wait_for()
    assert typed.value.request.headers["x-cuetrail-page"] == "1"
    expect(field).to_be_focused()
    field.press_sequentially("iver")
    page.locator("section.found[data-cue='silent receiver']").wait_for()
    assert "q=silent+receiver" in page.url
    with page.expect_response(is_counted("true")):
        field.press("Enter")
    assert page.locator("article.hit").count() > 1
    page.go_back()
    page.get_by_text("the whole timeline").wait_for()
    assert field.input_value() == ""


def test_a_search_is_kept_and_removed(page: Page) -> None:
    search(page, "silent receiver")
    page.get_by_role("button", name="Save this search").click()
    page.goto("/#/search")
    saved = page.get_by_role("region", name="Saved searches")
    saved.get_by_role("link", name="silent receiver").click()
    page.get_by_role("button", name="Saved", exact=True).wait_for()
    page.evaluate(
        "localStorage.setItem('cuetrail.searches', JSON.stringify([{title: 'x', address: 'javascript:ran(1)'}]))"
    )
    page.goto("/#/browse")
    page.goto("/#/search")
    page.get_by_text("the whole timeline").wait_for()
    assert saved.count() == 0, "an address that is no search of this page is not offered"


def test_links_between_memories_are_added_changed_and_removed(page: Page, memory_place: Path) -> None:
    with Memory(memory_place, embedder=None) as memory:
        node = memory.add("The mooring of the ferry", id="mooring", now=NOW)
        page.goto(f"/#/node/{node.id}")
        page.get_by_role("button", name="Add a link").click()
        page.get_by_role("combobox", name="To").press_sequentially("skarh")
        page.get_by_role("option", name=re.compile("Skarholm lighthouse")).first.click()
        page.get_by_label("How").fill("near")
        page.get_by_label("Strength").fill("0.8")
        page.get_by_role("dialog").get_by_role("button", name="Add the link").click()
        page.get_by_text("→ near").wait_for()
        (edge,) = (memory.edge(one.edge) for one in memory.neighbours(node.id).neighbours)
        assert edge is not None
        assert (edge.src, edge.type, edge.weight) == ("mooring", "near", 0.8)
        page.get_by_role("button", name="Change the link to Skarholm lighthouse").click()
        page.get_by_label("Why", exact=True).fill("one can see it")
        page.get_by_role("dialog").get_by_role("button", name="Save").click()
        page.get_by_text("one can see it").wait_for()
        assert memory.neighbours(node.id).degree == 1
        page.get_by_role("button", name="Remove the link to Skarholm lighthouse").click()
        page.get_by_text("Nothing yet. Dreams find").wait_for()
        assert memory.neighbours(node.id).degree == 0
        page.goto("/#/node/Wingbeat")
        page.get_by_role("button", name="Add a link").wait_for()
        assert page.get_by_role("button", name=re.compile("^Remove the link")).count() == 0, "those of rules stay"


def test_two_people_who_are_one_are_merged_after_a_look_at_what_passes_on(page: Page, memory_place: Path) -> None:
    with Memory(memory_place, embedder=None) as memory:
        memory.add("", kind="person", name="Quirin Aschenbach", id="quirin", now=NOW)
        memory.add("", kind="person", name="Q. Aschenbach", id="asch", now=NOW)
        memory.fact("asch", "lives_in", "Oslo", now=NOW)
        page.goto("/#/node/asch")
        page.get_by_role("button", name="Merge").click()
        page.get_by_role("combobox", name="Into").press_sequentially("quiri")
        page.get_by_role("option", name=re.compile("Quirin Aschenbach")).click()
        page.get_by_role("button", name="What would happen?").click()
        page.get_by_text("takes over 1 fact").wait_for()
        assert memory.get("asch") is not None
        page.evaluate(AXE.read_text("utf-8"))
        assert faults(page) == []
        page.get_by_role("button", name="Merge them").click()
        page.get_by_text(re.compile("^Also called Q. Aschenbach")).wait_for()
        assert memory.nodes("asch") == {}
        assert [fact.value for fact in memory.facts("Q. Aschenbach")] == ["Oslo"]


def test_a_file_is_set_aside_and_let_back_with_all_that_came_from_it(page: Page, memory_place: Path) -> None:
    page.goto("/#/node/Reading list")
    page.get_by_role("button", name="Set aside").click()
    page.get_by_role("button", name="Let back").wait_for()
    with Memory(memory_place, embedder=None) as memory:
        source = memory.get("Reading list")
        assert source is not None
        kept = memory.store.atoms_of(memory.scope, [source.source or ""], everywhere=True)[source.source or ""]
        assert len(kept) > 1
        assert {node.provenance for node in kept} == {"quarantine"}
        page.goto("/#/quarantine")
        page.get_by_text(re.compile(f"With {len(kept) - 1} memor(y|ies) that came from it")).wait_for()
        page.get_by_role("button", name="Let back").click()
        page.get_by_text("Nothing is set aside").wait_for()
        assert source.id not in {node.id for node in memory.timeline(provenance="quarantine").nodes}


def test_a_person_edits_and_forgets_a_memory(page: Page, memory_place: Path) -> None:
    page.clock.install()
    page.goto("/#/search")
    page.get_by_role("button", name="Write a memory").click()
    assert page.evaluate("document.activeElement.labels[0].innerText").strip() == "Title", (
        "the first field has the focus"
    )
    page.get_by_label("Title").fill("A leaning mast")
    page.get_by_label("Text").fill("The zephyrmast at Skarholm leans west.")
    page.get_by_label("Tags").fill("mast, wind damage")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Text").fill("The zephyrmast at Skarholm leans east.")
    page.get_by_role("button", name="Save").click()
    page.locator(".history").get_by_text("leans west").wait_for()
    with Memory(memory_place, embedder=None) as memory:
        (node,) = memory.timeline(tags=["wind damage"]).nodes
        assert node.props["title"] == "A leaning mast"
        assert node.text == "The zephyrmast at Skarholm leans east."
        page.get_by_role("button", name="Set aside").click()
        page.get_by_role("button", name="Let back").wait_for()
        page.goto("/#/quarantine")
        page.get_by_role("button", name="Let back").click()
        page.get_by_text("Nothing is set aside").wait_for()
        page.goto(f"/#/node/{node.id}")
        page.get_by_role("button", name="Forget", exact=True).click()
        page.get_by_text("1 memory goes").wait_for()
        assert page.evaluate("document.activeElement.innerText") == "Keep it", "the safe button has the focus"
        page.get_by_role("button", name="Forget for good").click()
        page.get_by_role("button", name="Undo").click()
        page.clock.fast_forward(12_000)
        assert memory.nodes(node.id) != {}, "what was undone stays"
        page.goto(f"/#/node/{node.id}")
        page.get_by_role("button", name="Forget", exact=True).click()
        page.get_by_role("button", name="Forget for good").click()
        page.get_by_role("button", name="Undo").wait_for()
        page.clock.fast_forward(8_000)
        assert memory.nodes(node.id) != {}, "nothing is forgotten before the time is over"
        with page.expect_response("**/v1/forget"):
            page.clock.fast_forward(4_000)
        page.get_by_text("Forgotten: 1 memory").wait_for()
        assert memory.nodes(node.id) == {}
    search(page, "zephyrmast")
    page.get_by_role("heading", name="I found nothing that answers").wait_for()


def test_several_results_are_tagged_and_forgotten_at_once(page: Page, memory_place: Path) -> None:
    page.clock.install()
    with Memory(memory_place, embedder=None) as memory:
        kept = {memory.add(f"The marmalade of {name} is bitter", tags=["old"]).id for name in ("Ann", "Ben")}
        search(page, "marmalade")
        page.locator("article.hit").nth(1).wait_for()
        for card in page.locator("article.hit").all():
            card.get_by_role("checkbox").check()
        bar = page.get_by_role("region", name="Selected memories")
        bar.get_by_role("button", name="Tag").click()
        page.get_by_label("Tags to add").fill("jam, #breakfast")
        page.get_by_role("button", name="Add the tags").click()
        page.locator("article.hit").get_by_text("breakfast").nth(1).wait_for()
        assert {node.own_tags for node in memory.nodes(*kept).values()} == {("old", "jam", "breakfast")}
        page.goto("/#/browse")
        page.get_by_role("button", name="Rename or hide").click()
        page.get_by_role("button", name="Rename #breakfast").click()
        page.get_by_label("New name").fill("morning meal")
        page.get_by_role("button", name="Rename", exact=True).last.click()
        page.get_by_text("#morning_meal").first.wait_for()
        assert len(memory.timeline(tags=["morning meal"]).nodes) == 2
        assert memory.timeline(tags=["breakfast"]).nodes == ()
        search(page, "marmalade")
        page.locator("article.hit").nth(1).wait_for()
        for card in page.locator("article.hit").all():
            card.get_by_role("checkbox").check()
        bar.get_by_role("button", name="Forget").click()
        page.get_by_text("2 memories go").wait_for()
        page.get_by_role("button", name="Forget for good").click()
        page.get_by_role("button", name="Undo").wait_for()
        assert page.locator("article.hit").count() == 0, "what is being forgotten is no longer shown"
        with page.expect_response("**/v1/forget"):
            page.clock.fast_forward(11_000)
        assert memory.nodes(*kept) == {}


def test_a_dropped_file_is_taken_in(page: Page, memory_place: Path) -> None:
    page.goto("/#/search")
    page.get_by_role("combobox", name="Search").wait_for()
    page.evaluate(
        """() => {
          const dataTransfer = new DataTransfer();
          dataTransfer.items.add(new File(["# Dropped\\n\\nThe ocarina is in the attic."], "dropped.md"));
          for (const type of ["dragover", "drop"])
            document.body.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
        }"""
    )
    page.get_by_role("button", name="Take them in").click()
    page.get_by_text(re.compile("memor(y|ies) added")).wait_for()
    page.get_by_role("dialog").get_by_role("button", name="Close").last.click()
    search(page, "ocarina")
    page.get_by_role("link", name="Dropped").wait_for()


def test_a_person_sees_what_is_known_of_them_and_corrects_it_in_one_click(page: Page, memory_place: Path) -> None:
    page.goto("/#/you")
    page.get_by_label("Your name").fill("Anna Berg")
    page.get_by_role("button", name="That is me").click()
    page.get_by_label("What about you").fill("lives in")
    page.get_by_label("Value").fill("Turin")
    page.get_by_role("button", name="State it").click()
    page.get_by_role("button", name="Correct lives in Turin").click()
    page.get_by_role("textbox", name="lives in").fill("Oslo")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Retract lives in Oslo").wait_for()
    with Memory(memory_place, embedder=None) as memory:
        assert [fact.value for fact in memory.facts("Anna Berg")] == ["Oslo"]
        page.get_by_role("button", name="Retract lives in Oslo").click()
        page.get_by_text("Nothing yet").wait_for()
        assert memory.facts("Anna Berg") == []


def test_the_dialog_of_forgetting_names_the_file_that_still_holds_the_text(page: Page) -> None:
    page.goto("/#/node/Cold connector")
    page.get_by_role("button", name="Copy path").wait_for()
    page.get_by_role("button", name="Forget", exact=True).click()
    told = page.get_by_text("This file on your disk still holds the text")
    told.wait_for()
    assert str(ROOT / "examples" / "vault" / "notes" / "Cold connector.md") in told.inner_text()
    page.get_by_role("button", name="Keep it").click()


SHOWN = {
    "#/search?q=malicious+antenna&recipe=energy": ("text", "name", "tag", "bucket", "source"),
    "#/search?q=malicious+antenna": ("text", "name", "tag", "source"),
    "#/search?q=malicious+file": ("wikilink", "path"),
    "#/node/evil": ("text", "name", "alias", "tag", "bucket", "source", "link", "note", "fact"),
    "#/node/aside": ("history", "source"),
    "#/timeline?until=2025-03-04&kind=any": ("name", "source", "title", "path"),
    "#/browse": ("tag", "bucket"),
}
"""The fields whose scripts a page shows as letters."""


@pytest.fixture
def unguarded(chromium: Browser, url: str) -> Iterator[Page]:
    """A page whose policy against scripts is not in force, so that a script in it would run."""
    context = chromium.new_context(base_url=url, bypass_csp=True)
    context.add_init_script(RAN)
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.on("dialog", lambda dialog: dialog.accept())
    yield page
    context.close()


@pytest.mark.parametrize("place", SHOWN)
def test_a_script_in_any_field_is_a_few_letters_even_without_the_policy_of_the_page(
    unguarded: Page, place: str
) -> None:
    unguarded.goto(f"/{place}")
    for field in SHOWN[place]:
        unguarded.locator("main").get_by_text(f"ran('{field}')").first.wait_for()
    for name in ("Why?", "Draw the graph"):
        while unguarded.get_by_role("button", name=name).count():
            unguarded.get_by_role("button", name=name).first.click()
    assert unguarded.locator("main :is(img, script, svg[onload], iframe, object, embed)").count() == 0
    assert unguarded.locator("a:not([href^='#'])").count() == 0
    assert unguarded.evaluate("window.scripts") == []
    for link in unguarded.locator("main").get_by_role("link", name=re.compile("^y$")).all():
        link.click()
        unguarded.get_by_text("This memory is not here").wait_for()
    assert unguarded.evaluate("window.scripts") == []
    # It is no accident: the same letters as HTML do run.
    unguarded.evaluate("html => document.body.insertAdjacentHTML('beforeend', html)", script_in("control"))
    unguarded.wait_for_function("window.scripts.includes('control')")


def test_the_policy_of_the_page_refuses_html_made_of_letters(chromium: Browser, url: str) -> None:
    context = chromium.new_context(base_url=url)
    page = context.new_page()
    page.goto("/#/search")
    with pytest.raises(Exception, match="requires 'TrustedHTML'"):
        page.evaluate("html => document.body.insertAdjacentHTML('beforeend', html)", script_in("control"))
    context.close()


def test_the_dialog_of_forgetting_shows_what_other_memories_lose(page: Page, memory_place: Path) -> None:
    doomed = "The zinc pendulum of Torsvik strikes thirteen whenever the ferry is late."
    stays = "Its keeper has oiled the bearings every second Monday since the war."
    with Memory(memory_place, embedder=None) as memory:
        node = memory.add(doomed)
        other = memory.add(f"{stays}\n\n{doomed}", source="pendulum.md")
        page.clock.install()
        page.goto(f"/#/node/{node.id}")
        page.get_by_role("button", name="Forget", exact=True).click()
        page.get_by_text("1 other memory says more and loses only these words").wait_for()
        assert page.locator(".doomed del").all_inner_texts() == [doomed]
        assert stays not in page.get_by_role("dialog").inner_text()
        page.get_by_role("button", name="Forget for good").click()
        page.get_by_role("button", name="Undo").wait_for()
        with page.expect_response("**/v1/forget"):
            page.clock.fast_forward(11_000)
        left = memory.get(other.id)
        assert left is not None
        assert left.text == stays


@pytest.mark.parametrize("place", SHOWN)
def test_a_script_in_a_note_is_a_few_letters(page: Page, place: str) -> None:
    page.goto(f"/{place}")
    for field in SHOWN[place]:
        page.locator("main").get_by_text(f"ran('{field}')").first.wait_for()
    assert page.locator("main :is(img, script, iframe, object, embed)").count() == 0
    assert page.locator("a[href^='javascript']").count() == 0


def test_the_keyboard_alone_is_enough(page: Page) -> None:
    page.goto("/")
    page.get_by_text("the whole timeline").wait_for()
    page.keyboard.press("/")
    page.keyboard.type("silent receiver")
    page.keyboard.press("Enter")
    page.locator("article.hit").first.wait_for()
    for key in "jjkw":
        page.keyboard.press(key)
    page.locator("article.hit").first.get_by_role("button", name="Hide why").wait_for()
    page.get_by_role("button", name="Advanced").click()
    with page.expect_response(lambda answer: "tag-walk" in (answer.request.post_data or "")):
        page.get_by_role("radio", name="Tag walk").check()
    page.locator("article.hit").first.wait_for()
    expect(page.get_by_role("radio", name="Tag walk")).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="History").wait_for()
    page.keyboard.press("e")
    page.get_by_role("heading", name="Edit this memory").wait_for()
    page.keyboard.press("Escape")
    assert page.get_by_role("dialog").count() == 0
    for keys, title in (
        ("gb", "Browse"),
        ("gd", "Dreams"),
        ("gt", "Timeline"),
        ("gy", "What I know about you"),
        ("gq", "Quarantine"),
    ):
        for key in keys:
            page.keyboard.press(key)
        page.get_by_role("heading", name=title, exact=True).wait_for()
    page.keyboard.press("?")
    page.get_by_role("heading", name="Keys").wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement !== document.body")


def faults(page: Page, *rules: str) -> list[str]:
    """What axe-core finds that keeps people from using the page."""
    options = {"resultTypes": ["violations"], **({"runOnly": list(rules)} if rules else {})}
    found: dict[str, Any] = page.evaluate("options => axe.run(document, options)", options)
    bad = [one for one in found["violations"] if one["impact"] in ("serious", "critical")]
    return [f"{one['id']}: {json.dumps([node['html'] for node in one['nodes']][:3])}" for one in bad]


def test_axe_finds_no_serious_fault(page: Page) -> None:
    page.goto("/")
    page.evaluate(AXE.read_text("utf-8"))
    places = {
        "#/search": "the whole timeline", "#/search?q=silent+receiver&recipe=energy": "related",
        "#/search?q=silent+receiver&tab=graph": "nodes as a list", "#/timeline": "Receiver", "#/browse": "Buckets",
        "#/you": "What I know about you", "#/search?q=capital+of+Mars": "I found nothing",
        "#/dreams": "Dream now", "#/quarantine": "Nothing is set aside", "#/node/Wingbeat": "Joined to",
    }  # fmt: skip
    for place, sign in places.items():
        page.emulate_media(color_scheme="light", reduced_motion="reduce")
        page.goto(f"/{place}")
        page.get_by_text(sign).first.wait_for()
        for button in page.get_by_role("button", name=re.compile("Why|^Forget$")).all()[-1:]:
            button.click()
        assert faults(page) == [], place
        page.emulate_media(color_scheme="dark", reduced_motion="reduce")
        page.locator("html[data-theme=dark]").wait_for()
        assert faults(page, "color-contrast") == [], f"{place}, dark"


def test_a_token_is_asked_for_where_one_is_needed(page: Page, memory_place: Path) -> None:
    with Memory(memory_place, embedder=None) as memory:
        token, text = issue(memory, "page", "read", memory.scope, NOW)
        try:
            page.goto("/")
            page.get_by_role("textbox", name="Token").fill("ct_wrong")
            page.get_by_role("button", name="Use it").click()
            page.get_by_text("not known here").first.wait_for()
            page.get_by_role("textbox", name="Token").fill(text)
            page.get_by_role("button", name="Use it").click()
            page.get_by_text("the whole timeline").wait_for()
            assert text not in page.url
            page.goto("/#/node/Wingbeat")
            page.get_by_role("button", name="Set aside").click()
            page.get_by_text("this token may only read").wait_for()
        finally:
            revoke(memory, token.id)
