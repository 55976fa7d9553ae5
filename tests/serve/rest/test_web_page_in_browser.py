"""The page in a real browser: search, why, graph, edit and forget, with mouse and keyboard."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cuetrail import Memory
from cuetrail.serve.rest.auth import issue, revoke
from cuetrail.serve.rest.web_page import STATIC
from scripts import browser as script
from scripts import page as building

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

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


def search(page: Page, cue: str, recipe: str = "Energy") -> None:
    page.goto("/")
    page.get_by_role("radio", name=recipe).check()
    page.get_by_label("Cue").fill(cue)
    page.get_by_role("button", name="Recall").click()


def test_a_person_searches_asks_why_and_looks_at_the_graph(page: Page) -> None:
    search(page, "silent receiver")
    direct, associated = (
        page.get_by_role("region", name="Found directly"),
        page.get_by_role("region", name="Associated"),
    )
    associated.locator("article").first.wait_for()
    assert direct.locator("article").count() > 1
    hit = associated.locator("article").first
    hit.get_by_role("button", name="Why?").click()
    stops = hit.get_by_role("list", name="The way from the cue to this memory").get_by_role("listitem")
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


def test_the_default_recipe_tells_what_the_cue_found_from_what_was_come_to(page: Page) -> None:
    page.goto("/#/search?q=solder+joint")
    page.locator(".walkers article.hit").first.wait_for()
    direct = page.locator(".anchors article.hit")
    assert direct.count() > 0
    for card in direct.all():
        assert card.locator("mark").count() > 0, "what is found directly has a word of the cue"
    assert page.locator(".walkers article.hit mark").count() == 0
    for card in page.locator(".walkers article.hit").all():
        card.locator("[data-why]").click()
        stops = card.get_by_role("list", name="The way from the cue to this memory").get_by_role("listitem")
        assert "found by the cue" in stops.nth(1).inner_text(), "every way begins at what the cue found"
        assert stops.count() > 2, "what was come to is behind that"


def test_a_narrative_is_told_fact_by_fact_and_an_address_of_another_version_is_read_as_far_as_it_goes(
    page: Page,
) -> None:
    page.goto("/#/search?q=role+of+Ines+Okafor&recipe=narrative")
    page.locator("article.hit").get_by_text("radio hardware").wait_for()
    page.goto("/#/search?q=silent+receiver&recipe=gone&tab=gone&budget=lots")
    page.locator("input[name=recipe][value=trail]:checked").wait_for(state="attached")
    page.locator("article.hit", has=page.locator("mark")).first.wait_for()


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
    page.goto("/#/search")
    page.get_by_role("button", name="Write a memory").click()
    page.get_by_label("Text").fill("The zephyrmast at Skarholm leans west.")
    page.get_by_label("Tags").fill("mast, wind damage")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Text").fill("The zephyrmast at Skarholm leans east.")
    page.get_by_role("button", name="Save").click()
    page.locator(".history").get_by_text("leans west").wait_for()
    with Memory(memory_place, embedder=None) as memory:
        (node,) = memory.timeline(tags=["wind damage"]).nodes
        assert node.text == "The zephyrmast at Skarholm leans east."
        page.get_by_role("button", name="Set aside").click()
        page.get_by_role("button", name="Let back").wait_for()
        page.goto("/#/quarantine")
        page.get_by_role("button", name="Let back").click()
        page.get_by_text("Nothing is set aside").wait_for()
        page.goto(f"/#/node/{node.id}")
        page.get_by_role("button", name="Forget", exact=True).click()
        page.get_by_text("1 memory goes").wait_for()
        page.get_by_role("button", name="Forget for good").click()
        page.get_by_label("Cue").wait_for()
        assert memory.nodes(node.id) == {}
    search(page, "zephyrmast", "Trail")
    page.get_by_text("Nothing is remembered on this").wait_for()


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
        page.goto(f"/#/node/{node.id}")
        page.get_by_role("button", name="Forget", exact=True).click()
        page.get_by_text("1 other memory says more and loses only these words").wait_for()
        assert page.locator(".doomed del").all_inner_texts() == [doomed]
        assert stays not in page.get_by_role("dialog").inner_text()
        page.get_by_role("button", name="Forget for good").click()
        page.get_by_label("Cue").wait_for()
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
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="History").wait_for()
    page.keyboard.press("e")
    page.get_by_role("heading", name="Edit this memory").wait_for()
    page.keyboard.press("Escape")
    assert page.get_by_role("dialog").count() == 0
    for keys, title in (("gb", "Browse"), ("gd", "Dreams"), ("gt", "Timeline"), ("gq", "Quarantine")):
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
        "#/search": "the whole timeline", "#/search?q=silent+receiver&recipe=energy": "Associated",
        "#/search?q=silent+receiver&tab=graph": "nodes as a list", "#/timeline": "Receiver", "#/browse": "Buckets",
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
