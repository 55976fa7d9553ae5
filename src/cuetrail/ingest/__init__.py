"""Ingest: reads files into documents, turns documents into nodes, and writes only what changed.

- `pipeline` runs the steps: `scan`, `readers`, `build_nodes`, `redact_documents`, `diff`, write. `watch` repeats them.
- `document` defines what readers return; `split` splits texts into blocks, `passages` joins these.
- `conversation` adds messages to a conversation, behind those that it has.
- `renamed_files` recognises moved files; `diff` recognises edited passages and preserves what users added to nodes.

May import: errors, extract, files, model, session, store, text, validation, write.
"""
