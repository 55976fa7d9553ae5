"""The protocols of other memory systems, answered by this memory.

May import: errors, memory, model, serve.rest, serve.tokens, serve.tool, store, text, transfer, validation.
"""
