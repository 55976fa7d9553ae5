"""Memories for agent frameworks: a module for each. Each needs its extra, such as `cuetrail[langgraph]`.

Importing a module loads its framework; importing this package loads none.

May import: errors, memory, model, store, text, write.
"""
