# demo, test, lint and format install what they need into .venv; nothing has to be installed by hand.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
.DEFAULT_GOAL := help
.PHONY: help demo test lint format lock container clean

help: ## show the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/'

$(VENV)/ready: requirements/dev.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "ci-eval needs Python 3.11 or newer; set PYTHON=python3.x" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

demo: $(VENV)/ready ## evaluate the bundled agent in two versions and show the report
	PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/travel-agent/demo.sh

test: $(VENV)/ready ## run the tests
	$(BIN)/python -m pytest -q -n auto --dist loadgroup

lint: $(VENV)/ready ## check style, types, action and workflows
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PATH="$(CURDIR)/$(BIN):$$PATH" sh tools/lint-workflows.sh

format: $(VENV)/ready ## put the code into the house format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: ## renew the locked dependencies
	sh tools/lock.sh

container: ## build the Action's image
	docker build -t ci-eval .

clean: ## remove what the targets made
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache
