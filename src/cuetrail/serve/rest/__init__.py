"""The HTTP server: REST and the web page.

May import: errors, memory, model, serve.compat, serve.lazy_memory, serve.mcp, serve.tokens, serve.tool,
serve.verb_tools, text.
"""
