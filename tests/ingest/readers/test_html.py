"""Deeply nested HTML pages, and pages that only look deeply nested."""

from __future__ import annotations

import pytest

from cuetrail.ingest.readers import html


@pytest.mark.parametrize("tag", ["div", "span", "x-y", "ul><li", "blockquote class='<'", "DIV/", "table><tr><td"])
def test_a_page_is_cut_to_a_depth_the_parser_can_bear(tag: str) -> None:
    name = tag.split(">")[0].split(" ")[0].rstrip("/")
    page = html.shallow(f"<{tag}>" * 5000 + "deep")
    assert page.count(f"<{name}") <= html.DEEPEST
    assert page.endswith("deep")


@pytest.mark.parametrize(
    "flat",
    [
        "<p>one<li>two<tr><td>three<br>",
        "<div><b>left open</div>",
        "<script>'<div><div>'</script><!-- <div> -->",
        "<svg><path/><path/></svg>",
        "<section>a</section>",
    ],
)
def test_a_long_page_that_is_flat_is_left_as_it_is(flat: str) -> None:
    assert html.shallow(flat * 5000) == flat * 5000
