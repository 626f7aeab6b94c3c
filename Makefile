# make demo   protect the shipped example, show what was done and where the pattern lies
# make test   run the tests
# make mutants  change the code in one place at a time and see whether a test notices
# make campaign   look for a table, an input or a fault on which a promise fails; an hour or so, goes on where it stopped
# make bench  run the papers' experiments, a quick look
# make docs   write the tables of docs/methods.md, docs/papers.md and docs/kernels.md from the code
# make site   build the site into site-out: guides, reference, benchmarks; no network, warnings are errors
# make lint, make types   style and types
# make hooks  let git check style and types before every commit
# make house  draw the rooms of the code in CONTRIBUTING.md anew
# make release-check   build a release, check it, install it into an empty environment and use it there
# Each creates .venv and installs what it needs; the only thing that must be there is Python 3.11 or newer.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$p"; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
DEMO := demo-out
WORKERS ?= 1
CAMPAIGN ?=# options for make campaign, such as --hours 8 --seed 2 --only tables

.PHONY: demo test slow mutants campaign docs site lint types hooks house release-check bench clean

demo: $(VENV)/.core
	@mkdir -p $(DEMO)
	@$(BIN)/python examples/demo.py --out $(DEMO)

test: $(VENV)/.test
	$(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder

slow: $(VENV)/.test
	$(BIN)/python -m pytest -q -m slow

mutants: $(VENV)/.test
	$(BIN)/python -m tests.mutants $(MUTANTS)

campaign: $(VENV)/.test
	$(BIN)/python -m tests.campaign --workers $(WORKERS) --document docs/reliability.md $(CAMPAIGN)

bench: $(VENV)/.core
	$(BIN)/python -m bench papers --quick

docs: $(VENV)/.test
	$(BIN)/python docs/make_methods.py
	$(BIN)/python docs/make_papers.py
	$(BIN)/python docs/make_kernels.py

site: $(VENV)/.test
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict
	@echo "site-out/index.html"

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev $(VENV)/.test
	$(BIN)/mypy gpuga $(if $(wildcard bench/*.py),bench)

hooks: $(VENV)/.dev $(VENV)/.test
	$(BIN)/pre-commit install

house: $(VENV)/.test
	$(BIN)/python -m tests.rooms

release-check: $(VENV)/.dev
	$(BIN)/python -m tests.release

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed and was not found; name it with make PYTHON=..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -qq --upgrade pip

$(VENV)/.core: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install -qq --editable .
	@touch $@

$(VENV)/.test: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install -qq --editable '.[test]'
	@touch $@ $(VENV)/.core

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install -qq --editable '.[dev]'
	@touch $@ $(VENV)/.core

clean:
	rm -rf build dist *.egg-info $(DEMO) site-out .mypy_cache .ruff_cache .pytest_cache .hypothesis
