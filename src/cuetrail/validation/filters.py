"""The filters of a recall: tags, buckets, kinds and times."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from cuetrail.errors import InputError
from cuetrail.model import Where
from cuetrail.model.records import make_tags, norm_buckets
from cuetrail.validation.arguments import words


def make_where(
    tags: Iterable[str], buckets: Iterable[str], kinds: Iterable[str], since: int | None, until: int | None,
    quarantined: bool, archived: bool,
) -> Where:  # fmt: skip
    """Returns the filters of a recall, with tags, buckets and kinds in their stored form.

    Raises InputError if `since` is later than `until`, and for a filter whose words are all empty in stored form.
    """
    if since is not None and until is not None and since > until:
        raise InputError(
            "nothing can be found: since (--since) is later than until (--until). Swap them, or leave one out"
        )
    return Where(
        _filter("tags", tags, lambda given: tuple(tag.name for tag in make_tags(given))),
        _filter("buckets", buckets, norm_buckets),
        _filter("kinds", kinds, norm_buckets),
        since, until, quarantined, archived,
    )  # fmt: skip


def _filter(field: str, given: Iterable[str], stored: Callable[[Sequence[str]], tuple[str, ...]]) -> tuple[str, ...]:
    """Returns the words of a filter in stored form. Raises InputError if words are given and none is left of them: an
    empty filter would let everything pass.
    """
    asked = words(field, given)
    found = stored(asked)
    if asked and not found:
        raise InputError(f"{field} {list(asked)!r:.60} has no word to filter by: name one, or leave {field} out")
    return found
