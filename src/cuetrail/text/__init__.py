"""Language rules: normalisation, analysis, similarity, names, dates, sentences.

May import: errors, formulas.
"""
