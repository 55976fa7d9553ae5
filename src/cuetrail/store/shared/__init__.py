"""Rules that both engines share: the order of a write, tombstones, succession, facts and their timelines, ids, copying.

May import: errors, formulas, model, store.dream, store.ports, store.read, store.transaction, store.upkeep,
store.vector_space, store.write, text.
"""
