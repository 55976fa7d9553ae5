"""Reads files into documents: `file_format` tells the format, `read_file` calls its reader, one module per format.

A file that cannot be read raises ReadError; the message says what is wrong and what to do.

May import: errors, extract, files, ingest.document, ingest.encoding, ingest.passages, ingest.split, text.
"""
