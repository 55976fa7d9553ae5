"""The default recall: names in the cue, the names that what it finds says, and what the cue asks beyond its names.

READ FIRST `finding.py`, what the cue finds; then `following.py`, where its trails lead; then `weighing.py`, one score.
"""
