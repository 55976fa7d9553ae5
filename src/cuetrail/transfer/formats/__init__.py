"""Importers and exporters for the formats of other systems.

To add a system, write a module with `FORMAT`, `load` and `dump`, list it in `detect_format._SYSTEMS`, and add a rule to
`detect_format.detect`.

- `load` yields all nodes before all edges. Ids are made from content, so importing a file twice changes nothing.
- A node with `props["placeholder"]` was only named in the file. It must not replace an existing node.
- A time of 0 means that the file states none.

May import: errors, files, ingest.readers, model, store, text.
"""
