"""The engine protocol, the rules that both engines share, and the two engines.

May import: errors, files, formulas, model, text.
"""
