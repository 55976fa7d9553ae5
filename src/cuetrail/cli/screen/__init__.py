"""Results as a person reads them on a terminal: a list, the trail of each result, and reasons in plain words.

May import: cli.output, memory, model, recall, text.
"""
