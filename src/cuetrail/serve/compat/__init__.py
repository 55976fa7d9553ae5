"""The operations of mem0 and of the reference MCP memory server, over a cuetrail memory.

May import: errors, memory, model, serve.json_data, serve.tool, store, text, transfer, validation.
"""
