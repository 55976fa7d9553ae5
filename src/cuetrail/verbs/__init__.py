"""The verbs of a memory, by topic.

May import: embed, errors, evaluate, explore, facts, model, recall, store, text, validation, write.
"""
