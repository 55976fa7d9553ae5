"""Import and export: the JSONL format of cuetrail, and the formats of other systems.

May import: embed, errors, facts, files, ingest, model, session, store, text, validation, write.
"""
