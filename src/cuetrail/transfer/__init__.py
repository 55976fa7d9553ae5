"""Import and export: the JSONL format of cuetrail, and the formats of other systems.

May import: embed, errors, files, ingest, model, store, text, write.
"""
