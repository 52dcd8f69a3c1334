# The two commands: `make demo` and `make test`. Everything they need is set up in .venv from the package index.
# PYTHON=… chooses the interpreter (3.11 or newer).

VENV    := .venv
BIN     := $(VENV)/bin
RUNS    := $(VENV)/.runs
TESTS   := $(VENV)/.tests
PYTEST  := $(BIN)/python -m pytest

.PHONY: help demo test agents lint ci bench characteristics clean

help:
	@echo "make demo    the main job on a small repository of its own, with the embedded agent"
	@echo "make test    all tests that need no extra program"
	@echo "make agents  evalrepo, and the pinned agent CLIs from npm in a cache outside the tree; prints what belongs in PATH"
	@echo "make lint    ruff, mypy, the layer test, and evalrepo's own checks of this repository"
	@echo "make bench   the speed goals, as ratios measured in one run"
	@echo "make characteristics   how often the default gate blocks, stays open and passes, by simulation"
	@echo "make ci      what CI runs"

$(RUNS): pyproject.toml constraints.txt .ci/venv
	@sh .ci/venv $(VENV) '.[rehearsal]' $(PYTHON) >&2
	@touch $@

$(TESTS): pyproject.toml constraints.txt .ci/venv
	@sh .ci/venv $(VENV) '.[test,dev]' $(PYTHON)
	@touch $@ $(RUNS)

demo: $(RUNS)
	@$(BIN)/python docs/demo.py

test: $(TESTS)
	@$(PYTEST) -q

agents: $(RUNS)
	@.ci/agents

lint: $(TESTS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(PYTEST) -q tests/test_layers.py
	$(BIN)/evalrepo lint
	$(BIN)/evalrepo verify
	$(BIN)/evalrepo selftest

ci: lint
	$(PYTEST) -q --no-header -n 2 --require-all

bench: $(TESTS)
	@$(BIN)/python benchmarks/run.py

characteristics: $(TESTS)
	@$(BIN)/python benchmarks/characteristics.py

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
