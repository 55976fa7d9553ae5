"""The commands, grouped by topic.

May import: cli.command, cli.node_argument, cli.output, cli.parse, cli.present, config, dream, errors, evaluate,
explore, files, ingest, memory, mirror, model, recall, serve, store, text, transfer, validation, write.
"""
