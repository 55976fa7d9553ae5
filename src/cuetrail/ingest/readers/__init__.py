"""Reads files into documents: `read_file` picks the reader of the format, and each format has a module or folder.

A file that cannot be read raises ReadError; the message says what is wrong and what to do.

May import: errors, extract, files, ingest.split, ingest.document, ingest.passages, text.
"""
