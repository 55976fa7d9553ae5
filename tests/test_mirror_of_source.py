"""The folders of the tests mirror those of the source, so that a test is found by the name of what it tests."""

from __future__ import annotations

from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "cuetrail"
# Folders that test something other than one folder of the source.
OTHERS = {"bench", "reliability", "store/contract", "systems"}


def with_files(root: Path, pattern: str) -> list[str]:
    """The folders at or below a root that hold a file of this pattern, as paths from the root."""
    return sorted({path.parent.relative_to(root).as_posix() for path in root.rglob(pattern)})


PACKAGES = with_files(SOURCE, "__init__.py")


@pytest.mark.parametrize("package", PACKAGES)
def test_each_folder_of_the_source_has_tests_in_the_folder_of_its_name(package: str) -> None:
    assert list((TESTS / package).glob("test_*.py")), f"put the tests of src/cuetrail/{package} into tests/{package}"


@pytest.mark.parametrize("folder", with_files(TESTS, "test_*.py"))
def test_each_folder_of_tests_is_one_of_the_source_or_has_a_reason_of_its_own(folder: str) -> None:
    assert folder in {*PACKAGES, *OTHERS}, f"tests/{folder} mirrors no folder of src/cuetrail: move its tests"


def test_each_exception_is_still_there_and_is_no_folder_of_the_source() -> None:
    assert set(with_files(TESTS, "test_*.py")) - set(PACKAGES) == OTHERS
