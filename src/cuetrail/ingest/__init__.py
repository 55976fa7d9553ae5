"""Ingest: reads files into documents, turns documents into nodes, and writes only what changed.

- `pipeline` runs the steps: `scan`, `readers`, `build`, `redact`, `diff`, write. `watch` repeats it on changes.
- `document` defines what readers return; `chunk` splits texts into blocks, `passages` joins these.
- `scan` also recognises moved files; `diff` recognises edited passages and preserves what users added to nodes.

May import: errors, extract, files, model, session, store, text, write.
"""
