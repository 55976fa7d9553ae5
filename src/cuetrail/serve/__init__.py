"""Servers: REST and the web page (`rest`), MCP (`mcp`), and the interfaces of mem0 and the reference MCP memory server
(`compat`). Verbs of `Memory` as tools, their JSON Schemas, and access tokens are shared.

May import: config, errors, explore, files, formulas, memory, model, recall, store, text, transfer, validation.
"""
