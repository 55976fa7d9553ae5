"""Rules and language models that read facts, links and tags out of a text.

May import: errors, http_post, model, text.
"""
