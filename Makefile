# Each target sets up what it needs: a virtual environment with pinned dependencies, then its job.
# A second call does only the job. Needs Python 3.11 or later, make and git.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Under CI and in `make test`, tests spread over the cores; PYTEST="-n 0" for a debugger.
PYTEST ?= -n auto --dist worksteal

.PHONY: run test lint types bench screenshots setup clean

# Until Ctrl-C; `make run DEMO=--once` ends when all of it was seen to work.
run: $(READY)
	$(BIN)/refold agentpedia vectors tests/vectors/agentpedia/replay-vectors.v1.json
	$(BIN)/refold demo $(DEMO)

test: $(READY)
	$(BIN)/python -m pytest $(PYTEST)

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(READY)
	$(BIN)/mypy

bench: $(READY)
	$(BIN)/python benchmarks/fold.py $(BENCH)
	$(BIN)/python benchmarks/man.py $(BENCH)

# The pictures of the reader in docs/pictures; needs chromium and fonts-noto-cjk.
screenshots: $(READY)
	PYTHONPATH=tests $(BIN)/python -m browser.screenshots

setup: $(READY)

# Pinned dependencies first, then refold itself without looking at an index again.
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "refold needs Python 3.11 or later; name one: make PYTHON=python3.12"; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "setting up $(VENV) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	  --constraint constraints.txt --editable '.[dev]'
	@touch $@

clean:
	rm -rf $(VENV) var build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
