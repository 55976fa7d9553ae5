# On a fresh machine with Python >= 3.11 every target sets up what it needs. `make` alone lists the targets.
SHELL := /bin/bash
BIN := .venv/bin
READY := .venv/.ready
ARGS ?=
SIZES ?= 10000 100000

.DEFAULT_GOAL := help
.PHONY: help setup demo test check format bench lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' Makefile

setup: $(READY) ## make .venv with the locked packages and cuetrail itself
	@:

$(READY): requirements.lock pyproject.toml scripts/setup.sh scripts/find_python.sh
	@scripts/setup.sh

demo: $(READY) ## remember a small vault and a chat, then recall from them
	@scripts/demo.sh

test: $(READY) ## run the tests; ARGS="-k name" goes to pytest
	@$(BIN)/python -m pytest -q -n 2 $(ARGS)

check: $(READY) ## format, lint and types, without the tests
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy

format: $(READY) ## put the code into the house format
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

bench: $(READY) ## measure ingest and search; SIZES="10000 100000"
	@SIZES="$(SIZES)" scripts/bench.sh

lock: ## choose newer packages and write requirements.lock again
	@scripts/lock.sh

clean: ## remove .venv, caches and built files
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
	find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} +
