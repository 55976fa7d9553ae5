"""Servers: REST, MCP, and the protocols of other memory systems.

May import: config, errors, explore, files, formulas, memory, model, recall, store, text, transfer, validation.
"""
