"""Facts and relationships: which entity a name means, and what predicates allow.

May import: errors, model, store, text.
"""
