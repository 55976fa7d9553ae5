"""The commands, grouped by topic.

May import: cli.command, cli.exit_codes, cli.options, cli.output, config, dream, errors, evaluate, explore, files,
ingest, memory, mirror, model, recall, serve, store, text, transfer, validation, write.
"""
