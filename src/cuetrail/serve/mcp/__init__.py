"""The MCP server: its tools, those of the reference memory server, resources, and `mcp install` for clients.

May import: config, errors, explore, files, memory, model, recall.render, serve.json_data, serve.memory_access,
serve.tool, serve.verbs, serve.write_queue, store, text, transfer, validation, write.
"""
