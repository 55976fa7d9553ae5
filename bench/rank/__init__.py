"""Trains the ranker of TRAIL on development questions, and reports what it is worth on questions it has not seen."""
