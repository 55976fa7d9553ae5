# On a fresh machine with Python >= 3.11 every target sets up what it needs. `make` alone lists the targets.
SHELL := /bin/bash
BIN := .venv/bin
READY := .venv/.ready
ARGS ?=
SIZES ?= 10000 100000
# Compiled files are kept, whatever the environment says: the tests start hundreds of Pythons, and each would compile anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo page built test check format docs bench lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' Makefile

setup: $(READY) built ## make .venv with the locked packages and cuetrail itself, and the page
	@:

$(READY): requirements.lock pyproject.toml scripts/setup.sh scripts/find_python.sh
	@scripts/setup.sh

page: $(READY) ## build the page of `cuetrail serve` (needs Node.js with npm)
	@$(BIN)/python scripts/page.py

# The page where it can be built; everything else does without it.
built: $(READY)
	@$(BIN)/python scripts/page.py --optional

demo: $(READY) built ## remember a small vault and a chat, then recall from them
	@scripts/demo.sh

test: $(READY) built ## run the tests; ARGS="-k name" goes to pytest
	@$(BIN)/python -m pytest -q -n 3 --dist loadgroup $(ARGS)

check: $(READY) ## format, lint and types, without the tests
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy

format: $(READY) ## put the code into the house format
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

docs: ## build the documentation as a site into site/
	@scripts/docs.sh

bench: $(READY) ## measure ingest and search; SIZES="10000 100000"
	@SIZES="$(SIZES)" scripts/bench.sh

lock: ## choose newer packages and write the lock files again
	@scripts/lock.sh

clean: ## remove .venv, caches and built files
	rm -rf .venv .venv-docs site .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist web/node_modules src/cuetrail/serve/static
	find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} +
