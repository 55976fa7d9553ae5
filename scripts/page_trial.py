#!/usr/bin/env python3
"""Does everything that the page offers in a real browser, on a copy of a memory of yours, and says what failed.

    scripts/page_trial.py MEMORY FOLDER [QUESTIONS]

FOLDER gets a picture of each step. QUESTIONS is a JSONL file with a "question" in each line; without one, the titles of
notes are typed. It also measures how soon results are shown after the last key, and looks for faults of accessibility
with axe-core. The exit code is 1 if a step failed.
"""

from __future__ import annotations

import json
import re
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote_plus

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from cuetrail import Memory  # noqa: E402  # needs the root in the path
from scripts.browser import launched, serving  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
TYPED, SOON_MS, KEY_MS = 30, 300, 40
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 400, "height": 800}
# `shown(cue)` returns the milliseconds from the last key to the drawing of the results of a cue.
WATCH = """() => {
  window.last = 0;
  addEventListener("keydown", () => { window.last = performance.now(); }, true);
  window.shown = (cue) => new Promise((tell) => {
    const look = () => {
      if (document.querySelector("section.found")?.dataset.cue !== cue) return;
      watch.disconnect();
      requestAnimationFrame(() => tell(performance.now() - window.last));
    };
    const watch = new MutationObserver(look);
    watch.observe(document.body, { childList: true, subtree: true, attributes: true });
    look();
  });
}"""


@dataclass
class Trial:
    """One run on a page: the questions, the folder of pictures, and what failed and was measured so far."""

    page: Page
    folder: Path
    questions: Sequence[str]
    failed: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def search(self, cue: str, more: str = "") -> Locator:
        """Searches by the address and returns the cards, which have come by then."""
        self.page.goto(f"/#/search?q={quote_plus(cue)}{more}")
        cards = self.page.locator("article.hit")
        cards.first.wait_for(timeout=60_000)
        return cards

    def picture(self, name: str) -> None:
        """Takes a picture of what the window shows."""
        self.page.screenshot(path=self.folder / f"{name}.png")

    def faults(self) -> list[str]:
        """Returns what axe-core calls serious or critical on the page as it is."""
        if not self.page.evaluate("typeof axe !== 'undefined'"):
            self.page.evaluate(AXE.read_text("utf-8"))
        found = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        return [
            f"{one['id']}: {one['nodes'][0]['html'][:160]}" for one in found if one["impact"] in ("serious", "critical")
        ]


def results_soon_after_the_last_key(trial: Trial) -> None:
    """Types questions and measures the time from the last key to the first card."""
    page, times = trial.page, []
    box = page.get_by_role("combobox", name="Search")
    # The first search of a server opens the memory, which checks a copy from end to end.
    trial.search(trial.questions[-1])
    page.goto("/#/search")
    page.evaluate(WATCH)
    for question in trial.questions[:TYPED]:
        box.fill("")
        box.press_sequentially(question, delay=KEY_MS, timeout=60_000)
        times.append(page.evaluate("cue => window.shown(cue)", question))
    trial.picture("typed")
    ordered = sorted(times)
    late = sum(one > SOON_MS for one in times)
    trial.told.append(
        f"first results after the last key, {len(times)} questions: p50 {statistics.median(times):.0f} ms,"
        f" p95 {ordered[int(0.95 * (len(ordered) - 1))]:.0f} ms, most {ordered[-1]:.0f} ms"
    )
    assert not late, f"{late} of {len(times)} came later than {SOON_MS} ms: {[round(one) for one in ordered]}"


def one_list_of_cards(trial: Trial) -> None:
    """Looks at the cards: title, Markdown, whole file name, why, trail."""
    cards = trial.search(trial.questions[0])
    assert cards.count() >= 3
    for card in cards.all():
        assert card.locator("h3").inner_text().strip(), "a card without a title"
        assert card.locator(".reason").inner_text().strip(), "a card without a reason"
        assert card.locator("img, script, iframe").count() == 0
    trial.picture("cards")
    cards.first.locator("[data-why]").click()
    cards.first.get_by_role("list", name="The way from your question").first.wait_for()
    trial.picture("why")
    for name in ("recipe", "budget"):
        assert trial.page.locator(f"[name={name}]:visible").count() == 0, f"{name} is shown before Advanced is opened"
    trial.page.get_by_role("button", name=re.compile("^Advanced")).click()
    trial.page.get_by_text("Tag walk").first.wait_for()
    trial.picture("advanced")


def a_passage_inside_its_note(trial: Trial) -> None:
    """Opens a passage and looks whether its note is scrolled to it, and offers to open it elsewhere."""
    trial.search(trial.questions[1]).first.locator("h3 a").click()
    here = trial.page.locator(".in-note[aria-current=true], .node-text").first
    here.wait_for()
    assert here.evaluate("one => one.getBoundingClientRect().top < innerHeight"), "the passage is not scrolled to"
    for name in ("Copy link", "Copy path"):
        trial.page.get_by_role("button", name=name).first.wait_for()
    trial.page.get_by_role("link", name="Open in editor").wait_for()
    trial.picture("note")


def suggestions(trial: Trial) -> None:
    """Completes titles, names and tags."""
    box = trial.page.get_by_role("combobox", name="Search")
    for typed in ("rel", "#p", "pyt"):
        trial.page.goto("/#/browse")
        trial.page.goto("/#/search")
        box.press_sequentially(typed, delay=KEY_MS)
        trial.page.get_by_role("option").first.wait_for()
    trial.picture("suggestions")
    box.press("Escape")


def saved_searches(trial: Trial) -> None:
    """Keeps a search, finds it on the first view, and removes it."""
    trial.search(trial.questions[2])
    trial.page.get_by_role("button", name="Save this search").click()
    trial.page.goto("/#/search")
    saved = trial.page.get_by_role("region", name="Saved searches")
    saved.get_by_role("link", name=trial.questions[2]).wait_for()
    trial.picture("saved")
    saved.get_by_role("link", name=trial.questions[2]).click()
    trial.page.locator("article.hit").first.wait_for()
    trial.page.get_by_role("button", name="Saved", exact=True).click()
    trial.page.goto("/#/search")
    trial.page.get_by_text("the whole timeline").wait_for()
    assert saved.count() == 0


def the_graph(trial: Trial) -> None:
    """Draws the trail and all that energy comes to; filters and searches in it."""
    page = trial.page
    trial.search(trial.questions[0])
    page.get_by_role("link", name="Graph").click()
    page.get_by_role("button", name="Lay out again").wait_for()
    trial.picture("graph-trail")
    begun = time.monotonic()
    page.get_by_role("radio", name="Everywhere").check()
    page.get_by_text(re.compile(r"^[\d,]{4,} nodes, ")).wait_for(timeout=120_000)
    page.get_by_role("button", name="Lay out again").wait_for(timeout=120_000)
    trial.told.append(
        f"graph: {page.locator('[data-graph-size]').inner_text()}, at rest after {time.monotonic() - begun:.1f} s"
    )
    trial.picture("graph-everywhere")
    page.emulate_media(color_scheme="dark")
    page.locator("html[data-theme=dark]").wait_for(state="attached")
    page.wait_for_timeout(500)
    trial.picture("graph-everywhere-dark")
    page.emulate_media(color_scheme="light")
    page.get_by_label("Find", exact=True).fill("python")
    page.get_by_text(re.compile(r"\d+ fit")).wait_for()
    trial.picture("graph-find")
    page.get_by_label("Find", exact=True).fill("")
    page.get_by_role("button", name="Filters").click()
    page.get_by_role("combobox", name="Kind").select_option("source")
    page.get_by_text(re.compile("of .* nodes as a list")).wait_for()
    page.wait_for_timeout(500)
    trial.picture("graph-filter")


def writing_and_links(trial: Trial) -> None:
    """Writes a memory with title and tags; adds, changes and removes a link."""
    page = trial.page
    page.goto("/#/search")
    page.get_by_role("button", name="Write a memory").click()
    page.get_by_label("Title").fill("The zephyrmast")
    page.get_by_label("Text").fill("The zephyrmast of the trial leans west.")
    page.get_by_label("Tags").fill("mast, trial")
    trial.picture("write")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Add a link").click()
    page.get_by_role("combobox", name="To").press_sequentially("pytho", delay=KEY_MS)
    page.get_by_role("option").first.click()
    page.get_by_label("How").fill("built with")
    page.get_by_label("Why", exact=True).fill("both are of the trial")
    trial.picture("link")
    page.get_by_role("dialog").get_by_role("button", name="Add the link").click()
    page.get_by_text("→ built with").wait_for()
    page.get_by_role("button", name=re.compile("^Change the link")).click()
    page.get_by_label("How").fill("painted by")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("→ painted by").wait_for()
    trial.picture("linked")
    page.get_by_role("button", name=re.compile("^Remove the link")).click()
    page.get_by_text("Nothing yet.").wait_for()


def merging(trial: Trial) -> None:
    """Writes two people who are one, and merges them after a look at what passes on."""
    page = trial.page
    for name in ("Quirin Aschenbach", "Q. Aschenbach"):
        page.goto("/#/search")
        page.get_by_role("button", name="Write a memory").click()
        page.get_by_label("It is").select_option("person")
        page.get_by_label("Name").fill(name)
        page.get_by_role("button", name="Save").click()
        page.get_by_role("heading", name=name).wait_for()
    page.get_by_role("button", name="Merge").click()
    page.get_by_role("combobox", name="Into").press_sequentially("quiri", delay=KEY_MS)
    page.get_by_role("option", name=re.compile("Quirin Aschenbach")).click()
    page.get_by_role("button", name="What would happen?").click()
    page.get_by_text("takes over").wait_for()
    trial.picture("merge")
    page.get_by_role("button", name="Merge them").click()
    page.get_by_text(re.compile("^Also called Q. Aschenbach")).wait_for()


def files_are_dropped(trial: Trial) -> None:
    """Drops a file on the page, and finds what it says."""
    trial.page.goto("/#/search")
    trial.page.get_by_role("combobox", name="Search").wait_for()
    trial.page.evaluate(
        """() => {
          const dataTransfer = new DataTransfer();
          dataTransfer.items.add(new File(["# Ocarina\\n\\nThe ocarina of the trial is in the attic."], "ocarina.md"));
          for (const type of ["dragover", "drop"])
            document.body.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
        }"""
    )
    trial.page.get_by_role("button", name="Take them in").click()
    trial.page.get_by_text(re.compile("memor(y|ies) added")).wait_for()
    trial.picture("dropped")
    trial.page.get_by_role("dialog").get_by_role("button", name="Close").last.click()
    assert "Ocarina" in trial.search("ocarina of the trial").first.inner_text()


def several_at_once_and_forgetting(trial: Trial) -> None:
    """Tags two results at once, renames the tag, forgets one memory, and undoes that."""
    page = trial.page
    cards = trial.search("zephyrmast")
    cards.first.get_by_role("checkbox").check()
    page.get_by_role("region", name="Selected memories").get_by_role("button", name="Tag").click()
    page.get_by_label("Tags to add").fill("trialtag")
    page.get_by_role("button", name="Add the tags").click()
    page.locator("article.hit").get_by_text("trialtag").first.wait_for()
    page.goto("/#/browse")
    page.get_by_role("button", name="Rename or hide").click()
    trial.picture("browse-tags")
    page.get_by_role("button", name="Rename #trialtag").click()
    page.get_by_label("New name").fill("renamed")
    page.get_by_role("button", name="Rename", exact=True).last.click()
    page.get_by_text("#renamed").first.wait_for()
    trial.search("zephyrmast").first.locator("h3 a").click()
    page.get_by_role("button", name="Forget", exact=True).click()
    page.get_by_text("1 memory goes").wait_for()
    trial.picture("forget")
    page.get_by_role("button", name="Forget for good").click()
    page.get_by_role("button", name="Undo").wait_for()
    trial.picture("undo")
    page.get_by_role("button", name="Undo").click()
    assert trial.search("zephyrmast").count() >= 1


def what_is_known_about_me(trial: Trial) -> None:
    """Says who I am, states a fact, corrects and retracts it."""
    page = trial.page
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
    trial.picture("you")
    page.get_by_role("button", name="Retract lives in Oslo").click()
    page.get_by_text("Nothing yet").wait_for()


PLACES = {
    "#/search": "the whole timeline", "#/timeline": "Timeline", "#/browse": "Buckets", "#/you": "What I know about you",
    "#/dreams": "Dream now", "#/quarantine": "Nothing is set aside",
}  # fmt: skip


def no_serious_fault(trial: Trial) -> None:
    """Looks at every view with axe-core, in the light and in the dark, and takes pictures, also of a phone."""
    found: list[str] = []
    cue = quote_plus(trial.questions[0])
    places = {
        **PLACES,
        f"#/search?q={cue}": "Why?",
        f"#/search?q={cue}&tab=graph": "nodes as a list",
        "#/node/Python": "Joined to",
    }
    for number, (place, sign) in enumerate(places.items()):
        for scheme in ("light", "dark"):
            trial.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            trial.page.goto(f"/{place}")
            trial.page.get_by_text(sign).first.wait_for()
            trial.page.locator(f"html[data-theme={scheme}]").wait_for(state="attached")
            found += [f"{place}, {scheme}: {fault}" for fault in trial.faults()]
            trial.picture(f"view-{number}-{scheme}")
        trial.page.set_viewport_size(PHONE)
        wide = trial.page.evaluate("document.documentElement.scrollWidth")
        found += [f"{place} is {wide} wide on a phone"] if wide > PHONE["width"] else []
        trial.picture(f"view-{number}-phone")
        trial.page.set_viewport_size(WIDE)
    trial.page.emulate_media(color_scheme="light")
    assert not found, "\n".join(found)


STEPS: tuple[Callable[[Trial], None], ...] = (
    results_soon_after_the_last_key, one_list_of_cards, a_passage_inside_its_note, suggestions, saved_searches,
    the_graph, writing_and_links, merging, files_are_dropped, several_at_once_and_forgetting, what_is_known_about_me,
    no_serious_fault,
)  # fmt: skip


def run(browser: Browser, url: str, folder: Path, questions: Sequence[str]) -> Trial:
    """Does all steps on one page; a step that fails does not stop the others."""
    page = browser.new_context(viewport=WIDE, base_url=url, locale="en-GB").new_page()  # type: ignore[arg-type]  # a dict
    page.set_default_timeout(20_000)
    trial = Trial(page, folder, questions)
    page.on("pageerror", lambda error: trial.failed.append(f"an error of the page: {error}"))
    for step in STEPS:
        begun = time.monotonic()
        try:
            step(trial)
            outcome = "done"
        except Exception as error:  # noqa: BLE001  # whatever fails is told, and the next step is done
            trial.failed.append(f"{step.__name__}: {error}")
            trial.picture(f"failed-{step.__name__}")
            outcome = "FAILED"
        print(f"{outcome:<7} {step.__name__.replace('_', ' ')} ({time.monotonic() - begun:.1f} s)", flush=True)
    return trial


def questions_of(memory: Path, file: Path | None) -> list[str]:
    """Returns the questions of a file, else titles of notes."""
    if file is not None:
        return [json.loads(line)["question"] for line in file.read_text("utf-8").splitlines()]
    with Memory(memory, embedder=None) as opened:
        return [node.name for node in opened.timeline(kinds=["source"], limit=TYPED).nodes if node.name]


def main(memory: Path, folder: Path, file: Path | None) -> int:
    """Copies the memory, does the steps, prints what was measured and what failed, and returns the exit code."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="cuetrail-") as made:
        copy = Path(shutil.copytree(memory, Path(made) / "memory"))
        with serving(copy) as url, launched() as browser:
            trial = run(browser, url, folder, questions_of(copy, file))
    print("\n".join(trial.told))
    print("\n".join(f"FAILED {one}" for one in trial.failed), file=sys.stderr)
    return 1 if trial.failed else 0


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    sys.exit(main(*map(Path, sys.argv[1:3]), Path(sys.argv[3]) if len(sys.argv) == 4 else None))
