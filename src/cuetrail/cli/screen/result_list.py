"""A recall as a list for people: current facts, then the results by note, each with an excerpt, its file and a reason.

Words of the question are set off. With `explain`, each result shows its trail; `verbose` adds all numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from cuetrail.cli import output
from cuetrail.cli.screen.excerpt import Excerpt, excerpt, marks_in
from cuetrail.cli.screen.headings import day_of, heading_of, is_all_in_title, title_of
from cuetrail.cli.screen.reasons import Reasons, listed, path_ids, quoted
from cuetrail.cli.screen.source_paths import file_of, shown_path
from cuetrail.cli.screen.terminal import can_link, make_console, safe
from cuetrail.cli.screen.trail_drawing import trail_lines

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from cuetrail.memory import Memory
    from cuetrail.model import Hit, Node, RecalledFact, Recollection

INDENT = 4
LINES = 2
MATCH, TITLE, QUIET, OUTDATED = "bold underline", "bold", "dim", "bold red"
NOTHING = "Nothing in this memory answers that."


class ResultList:
    """The lines of one recall. `roots` are the paths of ingested folders by their names."""

    def __init__(
        self, found: Recollection, nodes: Mapping[str, Node], roots: Mapping[str, str], *, explain: bool, verbose: bool
    ) -> None:
        self.found, self.roots, self.explain, self.verbose = found, roots, explain, verbose
        self.reasons = Reasons(found, nodes)
        self.console: Console = make_console()

    def drawn(self) -> str:
        """Returns the whole list, with the styles that the terminal understands."""
        with self.console.capture() as capture:
            for number, fact in enumerate(self.found.facts):
                self._print_all(self._fact_lines(fact, number == 0))
            for number, hit in enumerate(self.found.hits, 1):
                if number > 1 or self.found.facts:
                    self.console.print()
                if number == len(self.found.anchors) + 1 and self.found.anchors:
                    self.console.print(self._styled("Related to these", QUIET))
                    self.console.print()
                self._print_all(self._hit_lines(f"{number:>2}", hit))
        return _trimmed(capture.get())

    def refusal(self, hint: str = "") -> str:
        """Returns the lines that say that nothing answers: what was looked for, the hint, and the nearest memory with
        the remark that it may be about something else.
        """
        with self.console.capture() as capture:
            self.console.print(self._styled(NOTHING, TITLE))
            words = safe(", ".join(self.found.looked_for))
            looked_for = f"Looked for: {words}" if words else ""
            self._print_all(self._styled(line, QUIET) for line in (looked_for, hint) if line)
            for hit in self.found.hits[:1]:
                self.console.print("\nThe nearest, which may be about something else:\n", style=QUIET)
                self._print_all(self._hit_lines("  ", hit))
        return _trimmed(capture.get())

    def _print_all(self, lines: Iterable[Text]) -> None:
        for line in lines:
            # A path must not be broken: it could not be opened.
            self.console.print(line, soft_wrap=True)

    # --- facts

    def _fact_lines(self, one: RecalledFact, first: bool) -> Iterator[Text]:
        if first:
            yield self._styled("Facts", QUIET)
        predicate = one.fact.predicate.replace("_", " ")
        yield self._styled(f"  • {safe(f'{one.subject} {predicate} {one.value}')}", TITLE)
        line = self._styled(f"    since {day_of(one.since)}", QUIET)
        line.append(" · ", QUIET)
        line.append_text(self._source(one.source) if one.source else self._styled("stated by a person", QUIET))
        yield line
        if self.explain:
            asked = listed([quoted(word) for word in one.why.get("asked", ())]) or "the name, all that was asked"
            yield self._styled(f"    fits {safe(asked)} · id {output.short_id(one.fact.id)}", QUIET)

    # --- hits

    def _hit_lines(self, number: str, hit: Hit) -> Iterator[Text]:
        node = hit.node
        yield self._head(number, node)
        if hit.mark:
            yield self._indented(self._styled(safe(hit.mark), OUTDATED))
        yield from self._excerpt_lines(hit)
        if self.explain:
            for line in trail_lines(self.reasons, hit, self.verbose):
                yield from map(self._indented, line.wrap(self.console, self.console.width - INDENT))
        else:
            reason = self.reasons.line(hit, self.console.width - INDENT)
            yield self._indented(self._cropped(self._styled(reason, "italic")))
        if foot := self._foot(hit):
            yield self._indented(foot)

    def _foot(self, hit: Hit) -> Text:
        """Returns the file of a hit, how many more passages of it were found, and with the trail its id."""
        parts = [self._source(hit.node.source)] if hit.node.source else []
        if hit.more:
            parts.append(self._styled(f"+{output.count_of(len(hit.more), 'more passage')}", QUIET))
        if self.explain:
            parts.append(self._styled(f"id {output.short_id(hit.node.id)}", QUIET))
        return self._styled(" · ", QUIET).join(parts)

    def _head(self, number: str, node: Node) -> Text:
        """Returns the rank, the title and the heading, with the day at the right end."""
        line = self._styled(number, QUIET)
        line.append("  ")
        line.append_text(self._marked(title_of(node), TITLE))
        if heading := heading_of(node):
            line.append(" › ", QUIET)
            line.append_text(self._marked(heading, ""))
        day = day_of(node.at)
        line.truncate(self.console.width - len(day) - 2, overflow="ellipsis")
        line.append(" " * (self.console.width - line.cell_len - len(day)))
        line.append(day, QUIET)
        return line

    def _excerpt_lines(self, hit: Hit) -> Iterator[Text]:
        """Yields up to LINES lines of the passage around the words of the question."""
        if is_all_in_title(hit.node):
            return
        width = self.console.width - INDENT
        why = self.reasons
        shown = excerpt(hit.node.text, why.words, why.weights_for(hit.node), why.others(hit), LINES * width - 8)
        if not shown.text:
            return
        lines = self._text_of(shown).wrap(self.console, width)
        kept = lines[:LINES]
        if shown.cut_behind or len(lines) > LINES:
            kept[-1].truncate(width - 2, overflow="crop")
            kept[-1].rstrip()
            kept[-1].append(" …")
        yield from map(self._indented, kept)

    def _text_of(self, shown: Excerpt) -> Text:
        from rich.text import Text

        before = "… " if shown.cut_before else ""
        text = Text(before + shown.text)
        for start, end in shown.marks:
            text.stylize(MATCH, start + len(before), end + len(before))
        return text

    def _source(self, source: str | None) -> Text:
        """Returns the path of a source, as a link if the terminal understands links; the name of what is no file."""
        path = file_of(source, self.roots)
        if path is None:
            return self._styled(safe(source or ""), QUIET)
        if can_link(self.console):
            return self._styled(safe(shown_path(path)), f"{QUIET} link {path.as_uri()}")
        return self._styled(safe(str(path)), QUIET)

    # --- styles

    def _marked(self, text: str, style: str) -> Text:
        """Returns a text in this style with the words of the question underlined."""
        line = self._styled(text, style)
        for start, end, _ in marks_in(text, self.reasons.words.stem_in):
            line.stylize("underline", start, end)
        return line

    def _styled(self, text: str, style: str) -> Text:
        from rich.text import Text

        # Not as the style of the whole line, which what is appended would inherit.
        return Text().append(text, style)

    def _cropped(self, line: Text) -> Text:
        line.truncate(self.console.width - INDENT, overflow="ellipsis")
        return line

    def _indented(self, line: Text) -> Text:
        from rich.text import Text

        return Text(" " * INDENT).append_text(line)


def result_list(memory: Memory, found: Recollection, *, explain: bool = False, verbose: bool = False) -> ResultList:
    """Returns the list of a recall; reads the nodes on its trails and the paths of its sources from the memory."""
    nodes = memory.nodes(*path_ids(found)) if found.hits else {}
    return ResultList(found, nodes, memory.store.ingested(memory.scope).roots, explain=explain, verbose=verbose)


def shown_ids(found: Recollection) -> Sequence[str]:
    """Returns the ids of the nodes that a list of this recall shows."""
    return list(dict.fromkeys([*(one.fact.subject for one in found.facts), *(hit.node.id for hit in found.hits)]))


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines())
