"""Servers: HTTP with the REST interface, mem0's and the web page (`rest`), and MCP with the tools of the reference
memory server too (`mcp`). Both call the verbs of `Memory` as tools with JSON Schemas.

May import: config, errors, explore, files, formulas, memory, model, recall, store, text, transfer, validation, write.
"""
