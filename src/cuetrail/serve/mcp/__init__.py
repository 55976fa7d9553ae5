"""The MCP server: tools, resources, subscriptions, the handshake on stdin, and `mcp install` for clients.

May import: config, errors, explore, files, formulas, memory, model, recall, serve.compat, serve.json_data,
serve.lazy_memory, serve.tool, serve.verb_tools, text.
"""
