"""Rules that both engines call.

May import: errors, formulas, model, store.dream_port, store.ports, store.relationship_query, text.
"""
