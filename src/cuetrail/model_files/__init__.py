"""Models in files: ONNX models in folders and archives, the catalogue of models to fetch, and fetching them.

May import: config, errors.
"""
