"""The MCP server.

May import: config, errors, explore, files, formulas, memory, model, recall, serve.compat, serve.lazy_memory,
serve.tool, serve.verb_tools, text.
"""
