"""The data that the web page reads and no single verb returns: one module for each view, at `POST /view/NAME`.

May import: errors, explore, memory, model, serve.json_data, serve.tool, store, text.
"""
