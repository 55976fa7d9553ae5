"""The commands, grouped by topic.

May import: cli.agent_settings, cli.command, cli.exit_codes, cli.options, cli.output, cli.page_opening, cli.screen,
config, dream, engines, errors, evaluate, explore, files, graph, ingest, memory, mirror, model, model_files, recall,
serve, store, text, transfer, validation, write.
"""
