"""How well recall answers on public sets: words, vectors, their blend and every recipe, beside what others publish."""
