"""Rules that both engines call.

May import: errors, formulas, model, store.dream, store.ports, store.read, store.transaction, store.upkeep,
store.vector_space, store.write, text.
"""
