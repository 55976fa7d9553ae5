"""Links, tags, names and dates found in text by rules: plain functions, linear in the length of the text."""
