"""Facts: which node or entity a name means, and which facts about it a user believes.

May import: errors, model, store, text.
"""
