"""Ingest: reads files into documents, turns documents into nodes, and writes only what changed.

- `pipeline` runs the steps: `scan`, `readers`, `build`, `redact`, `diff`, write. `watch` repeats it on changes.
- `chunk` splits paragraphs; `paragraph_match` recognises edited ones; `renames` recognises moved files and folders.
- `user_edits` preserves what users added to the nodes of a file.

May import: errors, extract, files, model, session, store, text, write.
"""
