"""Ingest: files become documents, documents become nodes, and only what changed is written.

May import: errors, extract, files, model, store, text, write.
"""
