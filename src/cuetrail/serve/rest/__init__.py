"""The HTTP server: routes for verbs, files, mem0 and the web page; access tokens, metrics and the OpenAPI document.

May import: errors, explore, memory, model, serve.json_data, serve.mcp, serve.memory_access, serve.tool, serve.verbs,
serve.write_queue, store, text, transfer, validation.
"""
