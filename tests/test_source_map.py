"""The map of the source in CONTRIBUTING.md is the one that the modules' docstrings give."""

from scripts import source_map


def test_the_map_is_what_the_modules_say() -> None:
    written = source_map.DOCUMENT.read_text("utf-8")
    assert written == source_map.document(), "CONTRIBUTING.md is old: run `python scripts/source_map.py`"
