"""Reads chats: JSON and JSONL of any kind, and what is particular to the exports of ChatGPT and of Claude.

May import: errors, files, ingest.document, ingest.passages, ingest.readers.app_folders, ingest.readers.markdown,
ingest.readers.plain, ingest.readers.refused_exports, ingest.readers.roam, ingest.split, text.
"""
