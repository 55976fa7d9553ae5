"""Measures how well recall answers on public sets: text, vectors, both, and every recipe, beside published results."""
