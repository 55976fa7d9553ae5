"""The HTTP server: routes for verbs, files, mem0 and the web page; tokens, limits, metrics and the OpenAPI document.

May import: errors, memory, model, serve.compat, serve.json_data, serve.lazy_memory, serve.mcp, serve.tokens,
serve.tool, serve.verb_effects, serve.verb_schema, serve.verb_tools, text, transfer.
"""
