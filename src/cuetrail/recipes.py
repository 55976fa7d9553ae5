"""The recipes under their public name; `recall.recipes` makes them."""

from cuetrail.recall.recipes import *  # noqa: F403
