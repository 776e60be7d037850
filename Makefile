# Everything here works from a fresh clone: each target installs what it needs, from locks, and nothing twice.
# `make help` lists the targets; CONTRIBUTING.md says when to use which.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# Another Python beside the first: make test PYTHON=python3.12 VENV=.venv-3.12
VENV ?= .venv
BIN := $(VENV)/bin
SAMPLE ?= examples/qwen-lora-sft
PYTEST := $(BIN)/python -m pytest

export GPU_LOL_VENV := $(VENV)
export PYTHONDONTWRITEBYTECODE := 1

.PHONY: help setup demo test e2e check golden bench live image try lock clean-room clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## Install the light environment; leaves .venv/bin/gpu-lol
	@scripts/install light
	@echo "Ready: $(BIN)/gpu-lol --help"

demo: ## Play the whole story on this machine, with real SkyPilot on a loopback cloud (SAMPLE=path)
	@scripts/install-system machines
	@scripts/install light rehearsal
	@scripts/as-root $(BIN)/gpu-lol rehearse $(SAMPLE)

test: ## Run the unit, golden and contract tests (ARGS="-k name")
	@scripts/install-system test
	@scripts/install dev cloud
	@scripts/run-tests $(BIN)/python $(ARGS)

e2e: ## Run the end-to-end stories: real SkyPilot on the loopback cloud (ARGS="-k name")
	@scripts/install-system machines
	@scripts/install dev cloud
	@scripts/as-root scripts/stories $(BIN)/python $(ARGS)

check: ## Check lint, format, types, import directions, documents, shell and workflows
	@scripts/install-system test
	@scripts/install dev
	@scripts/check

golden: ## Rewrite the golden files from what the code does now, and show the difference
	@scripts/install dev cloud
	@$(PYTEST) -q --update-golden $(ARGS) || true
	@git add --intent-to-add -- tests/golden
	@git --no-pager diff --stat --patch -- tests/golden

bench: ## Measure every figure that the documents quote
	@scripts/install-system machines
	@scripts/install dev cloud
	@for benchmark in benchmarks/[a-z]*.py; do scripts/as-root $(BIN)/python "$$benchmark"; done

live: ## Try on a real cloud what a loopback cannot, for less than $1, and date docs/clouds.md (maintainers; CLOUD=runpod)
	@scripts/install light cloud
	@if [ "$(CLOUD)" = loopback ]; then scripts/install-system machines && scripts/install light cloud rehearsal && \
		scripts/as-root env PYTHONPATH=. $(BIN)/python scripts/live --cloud loopback; \
	else PYTHONPATH=. $(BIN)/python scripts/live --cloud $(or $(CLOUD),runpod); fi

image: ## Build the image of Dockerfile here, on a stand-in base (maintainers; root; buildah, mmdebstrap)
	@scripts/as-root scripts/build-image --stand-in

try: ## Say what machine a repository needs (REPO=path)
	@test -n "$(REPO)" || { echo "Which repository? make try REPO=path"; exit 2; }
	@scripts/install light
	@$(BIN)/gpu-lol analyze "$(REPO)"

lock: ## Recompile requirements/*.txt from pyproject.toml (ARGS=--upgrade)
	@scripts/install light
	@scripts/lock $(ARGS)

clean-room: ## Run .ci/run in a minimal Debian root (maintainers; root; CMD="make setup" for another command)
	@scripts/clean-room $(or $(CMD),.ci/run)

clean: ## Remove everything that the other targets made here
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist rehearsal.html
