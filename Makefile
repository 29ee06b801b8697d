# What a person does with this project. Every target sets up what it needs; the second call is quick.
#
#   make demo     a zip of photos to shards to batches, and how fast, in a minute; kept in build/demo, to be looked at
#   make test     C++ tests, plain and under sanitizers, then all Python tests against the real TensorFlow, those whose
#                 result depends on the CPU as on several; says how long each part and the ten slowest tests took
#   make lint     formatting, types, static analysis, generated files that are stale
#   make bench    the tables of the documentation, measured here
#   make fuzz     every parser on hostile bytes, 20 seconds each, and 20,000 random Examples against TensorFlow;
#                 `make soak` the same for 10 minutes each, and a million Examples
#   make docs     the generated pages, and the code of all pages run
#   make wheels   a wheel for every Python >= 3.11 that is found, into dist/
#   make install  the development install alone, in .venv/dev
#   make clean    remove everything that make made
#
# Needs: Python >= 3.11, a C++20 compiler, make; for the tests Node.js with npm, and Chromium. Settings: PYTHON, JOBS, PYTEST_ARGS, BENCH_ARGS, FUZZ_SECONDS, CLANGXX.

PYTHON ?= python3
JOBS ?= $(shell getconf _NPROCESSORS_ONLN)
CLANGXX ?= clang++-19
PYTEST_ARGS ?=
BENCH_ARGS ?=

RUN := .venv/run
DEV := .venv/dev
ENGINES := .venv/engines
PIP_INSTALL := bin/python -m pip install --quiet --disable-pip-version-check
CMAKE := $(DEV)/bin/cmake
CTEST := $(DEV)/bin/ctest

NATIVE := CMakeLists.txt $(shell find src/core src/bindings -type f ! -name '*.md' 2>/dev/null)
SOURCES := $(NATIVE) $(shell find src/tfrkit -name '*.py' 2>/dev/null)
CXX_HEADERS := $(filter %.h,$(NATIVE))
CXX_UNITS := $(filter %.cc,$(NATIVE))
CXX_FILES := $(CXX_HEADERS) $(CXX_UNITS) $(wildcard fuzz/*.cc fuzz/*.h)
NATIVE_FUZZERS := $(basename $(notdir $(wildcard fuzz/fuzz_*.cc)))
PYTHON_FUZZERS := $(basename $(notdir $(wildcard fuzz/fuzz_*.py)))

# Sanitizers place their shadow memory at fixed addresses, which strong address randomisation can collide with.
FIXED_ADDRESSES := $(shell setarch -R true 2>/dev/null && echo setarch -R)

.PHONY: help demo test test-ready test-cpp build-sanitized test-sanitized test-python test-clusters test-cpu test-engines lint lint-python lint-types lint-cpp lint-format lint-tree bench fuzz soak docs wheels install clean FORCE
.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:

help:
	@sed -n 's/^#   //p' Makefile

# --- environments: .venv/run has tfrkit as a user gets it, .venv/dev has it editable and all the tools ---

$(RUN)/.stamp-venv $(DEV)/.stamp-venv: %/.stamp-venv:
	@tools/ensure.sh python "$(PYTHON)"
	$(PYTHON) -m venv $*
	$*/$(PIP_INSTALL) --upgrade 'pip>=25.3'
	@touch $@

$(RUN)/.stamp-tfrkit: $(RUN)/.stamp-venv pyproject.toml README.md LICENSE $(SOURCES)
	@tools/ensure.sh compiler
	$(RUN)/$(PIP_INSTALL) '.[images,view]'
	@touch $@

# The constraint is for the build of tfr-reader, of which there is no wheel; nothing else here is built with Cython.
$(DEV)/.stamp-group-%: $(DEV)/.stamp-venv pyproject.toml
	@echo 'Cython<3.1' > $(DEV)/build-constraint.txt
	$(DEV)/$(PIP_INSTALL) --build-constraint $(DEV)/build-constraint.txt --group $*
	@touch $@

# The editable install takes Python from src/ as it is, so only a changed list of modules or native code needs this.
build/modules.txt: FORCE
	@mkdir -p build
	@find src/tfrkit -name '*.py' | LC_ALL=C sort > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(DEV)/.stamp-tfrkit: $(DEV)/.stamp-group-build pyproject.toml README.md LICENSE build/modules.txt $(NATIVE)
	@tools/ensure.sh compiler
	PATH="$(CURDIR)/$(DEV)/bin:$$PATH" $(DEV)/$(PIP_INSTALL) --no-build-isolation --config-settings build-dir=build/dev -e .
	@touch $@

install: $(DEV)/.stamp-tfrkit

# --- demo ---

demo: $(RUN)/.stamp-tfrkit
	@rm -rf build/demo
	$(RUN)/bin/tfr demo build/demo

# --- test ---

TEST_PARTS := test-ready test-cpp test-sanitized test-python test-clusters test-cpu test-engines

test: $(DEV)/.stamp-tfrkit
	@took=; for part in $(TEST_PARTS); do \
	    before=$$(date +%s); \
	    $(MAKE) --no-print-directory $$part || exit; \
	    took="$$took  $$part $$(($$(date +%s) - before)) s"; \
	done; echo "=== make test:$$took"

# Installing TensorFlow keeps one core busy, so the other compiles meanwhile.
test-ready: $(DEV)/.stamp-tfrkit
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target build-sanitized $(DEV)/.stamp-group-test $(AZURITE)

# An Azure blob server for the tests, which there is as an npm package only. Everything it needs stays in one folder.
# A request without an answer is made again: by itself npm waits for five minutes.
AZURITE := build/azurite/.stamp

$(AZURITE): tests/support/servers/package.json
	@tools/ensure.sh node
	@mkdir -p $(@D)
	cp $< $(@D)/
	npm install --prefix $(@D) --no-package-lock --no-audit --no-fund --ignore-scripts --omit=optional --loglevel=error \
	    --fetch-timeout=30000 --fetch-retries=5
	@touch $@

CONFIGURE = PATH="$(CURDIR)/$(DEV)/bin:$$PATH" $(CMAKE) -S . -G Ninja -DTFRKIT_BUILD_PYTHON=OFF --log-level=WARNING

# The plain tests are linked with the library that the installed module is made of: it is compiled once.
test-cpp: $(DEV)/.stamp-tfrkit
	PATH="$(CURDIR)/$(DEV)/bin:$$PATH" $(CMAKE) -S . -B build/dev -DTFRKIT_BUILD_TESTS=ON --log-level=WARNING
	$(CMAKE) --build build/dev --target core_tests --parallel $(JOBS)
	$(CTEST) --test-dir build/dev --output-on-failure --no-tests=error --parallel $(JOBS)

build-sanitized: $(DEV)/.stamp-group-build
	@tools/ensure.sh compiler
	$(CONFIGURE) -B build/cpp-sanitized -DCMAKE_BUILD_TYPE=Debug -DTFRKIT_BUILD_TESTS=ON -DTFRKIT_SANITIZE=ON
	$(CMAKE) --build build/cpp-sanitized --target core_tests --parallel $(JOBS)

test-sanitized: build-sanitized
	$(FIXED_ADDRESSES) $(CTEST) --test-dir build/cpp-sanitized --output-on-failure --no-tests=error --parallel $(JOBS)

# Many tests wait for their files to be synced: in memory that is free.
test-python: $(DEV)/.stamp-tfrkit $(DEV)/.stamp-group-test $(AZURITE)
	@tools/ensure.sh chromium
	tools/in_memory.sh $(DEV)/bin/python -m pytest -n $(JOBS) --dist worksteal -m 'not cluster and not engines' --durations=10 $(PYTEST_ARGS)

# Clusters of processes, each started once and shared by its tests.
test-clusters: $(DEV)/.stamp-tfrkit $(DEV)/.stamp-group-test
	@tools/ensure.sh java
	$(DEV)/bin/python -m pytest -n 2 --dist loadgroup -m cluster --durations=10 $(PYTEST_ARGS)

# The results of TensorFlow's kernels depend on the CPU. The tests of such results again as on CPUs without AVX-512, and
# without AVX2: there TensorFlow leaves oneDNN's operations off, and uses its products of matrices only. Then with those
# operations on; bfloat16 is left out of that, since TensorFlow ends in a segmentation fault if oneDNN is held to less
# than the CPU has.
test-cpu: $(DEV)/.stamp-tfrkit $(DEV)/.stamp-group-test
	@$(MAKE) --no-print-directory --jobs $(JOBS) --output-sync=target \
	    test-cpu-AVX2-0 test-cpu-SSE41-0 test-cpu-AVX2-1 test-cpu-SSE41-1

test-cpu-%:
	ONEDNN_MAX_CPU_ISA=$(firstword $(subst -, ,$*)) TF_ENABLE_ONEDNN_OPTS=$(lastword $(subst -, ,$*)) \
	    $(DEV)/bin/python -m pytest -q -m cpu_dependent $(if $(filter %-1,$*),-k 'not bfloat16') \
	    $$(grep -rlw cpu_dependent tests/oracle --include='test_*.py')

# An environment on top of .venv/dev, with only what has to be older there.
SITE := import site; print(site.getsitepackages()[0])

$(ENGINES)/.stamp-group: $(DEV)/.stamp-tfrkit $(DEV)/.stamp-group-test pyproject.toml
	$(PYTHON) -m venv --clear --without-pip $(ENGINES)
	@base=$$($(DEV)/bin/python -c '$(SITE)') && \
	    echo "import site; site.addsitedir('$$base')" > "$$($(ENGINES)/bin/python -c '$(SITE)')/dev.pth"
	$(ENGINES)/$(PIP_INSTALL) --group engines
	@touch $@

test-engines: $(ENGINES)/.stamp-group
	@tools/ensure.sh java
	$(ENGINES)/bin/python -m pytest -q -m engines tests/integrations/test_other_engines.py --durations=5 $(PYTEST_ARGS)

# --- lint ---

# The checker of types takes as long as many files of C++, so it starts first and runs beside them.
lint: $(DEV)/.stamp-group-lint $(DEV)/.stamp-tfrkit build/tidy/compile_commands.json
	@$(MAKE) --no-print-directory --jobs $(JOBS) --output-sync=target \
	    lint-types lint-python lint-tree lint-format $(TIDIED)

TIDIED := $(CXX_UNITS:%=build/tidy/%.ok)

lint-python: $(DEV)/.stamp-group-lint
	$(DEV)/bin/ruff check .
	$(DEV)/bin/ruff format --check .

# The stub of the native module is made by its build.
lint-types: $(DEV)/.stamp-group-lint $(DEV)/.stamp-tfrkit
	$(DEV)/bin/mypy

lint-cpp: lint-format build/tidy/compile_commands.json
	@$(MAKE) --no-print-directory --jobs $(JOBS) $(TIDIED)

lint-format: $(DEV)/.stamp-group-lint
	$(DEV)/bin/clang-format --dry-run --Werror $(CXX_FILES)

lint-tree: $(DEV)/.stamp-group-lint
	$(DEV)/bin/python docs/generate.py --check
	$(DEV)/bin/python tools/check_tree.py

build/tidy/compile_commands.json: $(DEV)/.stamp-tfrkit CMakeLists.txt
	$(CONFIGURE) -B build/tidy -DTFRKIT_BUILD_PYTHON=ON -DTFRKIT_BUILD_TESTS=ON -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
	    -DPython_EXECUTABLE=$(CURDIR)/$(DEV)/bin/python -DCMAKE_BUILD_TYPE=Release
	@touch $@

# Files for another instruction set are not in the list of commands, and so are left out. The static analyzer takes ten
# times as long as all other checks; tests do without it, as they run under sanitizers.
build/tidy/%.ok: % .clang-tidy $(CXX_HEADERS) build/tidy/compile_commands.json
	@mkdir -p $(@D)
	@if grep -q '$(CURDIR)/$<"' build/tidy/compile_commands.json; then \
	    echo "clang-tidy $<"; \
	    $(DEV)/bin/clang-tidy --quiet -p build/tidy $(if $(filter %_test.cc,$<),--checks=-clang-analyzer-*) $<; fi
	@touch $@

# --- bench ---

bench: $(DEV)/.stamp-tfrkit $(DEV)/.stamp-group-bench
	$(DEV)/bin/python -m benchmarks $(BENCH_ARGS)

# --- fuzz: the corpus stays in build/corpus between runs, what fails is left in build/crashes ---

fuzz: FUZZ_SECONDS ?= 20
fuzz: fuzz-build
	@$(MAKE) --no-print-directory --jobs $(JOBS) --output-sync=target FUZZ_SECONDS=$(FUZZ_SECONDS) \
	    $(NATIVE_FUZZERS:%=fuzz-run-%) $(PYTHON_FUZZERS:%=fuzz-run-%)
	@$(MAKE) --no-print-directory fuzz-differential

soak: FUZZ_SECONDS ?= 600
soak: fuzz-build
	@$(MAKE) --no-print-directory --jobs $(JOBS) --output-sync=target --keep-going FUZZ_SECONDS=$(FUZZ_SECONDS) \
	    $(NATIVE_FUZZERS:%=fuzz-run-%) $(PYTHON_FUZZERS:%=fuzz-run-%)
	@$(MAKE) --no-print-directory fuzz-differential DIFFERENTIAL="--cases 1000000"

# tfrkit beside TensorFlow and protobuf on random Examples. Without --afresh it goes on where an interrupted run stopped.
.PHONY: fuzz-differential
fuzz-differential: DIFFERENTIAL ?= --cases 20000 --afresh
fuzz-differential: $(DEV)/.stamp-tfrkit $(DEV)/.stamp-group-test
	$(DEV)/bin/python -m fuzz.differential --processes $(JOBS) $(DIFFERENTIAL)

.PHONY: fuzz-build
fuzz-build: $(DEV)/.stamp-tfrkit $(DEV)/.stamp-group-fuzz
	@test -n "$(NATIVE_FUZZERS)" || { echo "error: no fuzz targets in fuzz/" >&2; exit 1; }
	@tools/ensure.sh libfuzzer "$(CLANGXX)"
	$(CONFIGURE) -B build/fuzz -DCMAKE_CXX_COMPILER="$(CLANGXX)" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTFRKIT_BUILD_FUZZERS=ON
	$(CMAKE) --build build/fuzz --parallel $(JOBS) --target $(NATIVE_FUZZERS)
	$(DEV)/bin/python fuzz/seeds.py build/corpus

FUZZ_OPTIONS = -max_total_time=$(FUZZ_SECONDS) -timeout=20 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 \
    -verbosity=0 -artifact_prefix=build/crashes/$*-

# libFuzzer says much; all of it goes to a file, which is shown when something was found.
define run-fuzzer
	@mkdir -p build/corpus/$* build/crashes
	@if $(1) $(FUZZ_OPTIONS) build/corpus/$* > build/crashes/$*.log 2>&1; then \
	    echo "$*: nothing found in $(FUZZ_SECONDS) s," \
	        "$$(sed -n 's/^stat::number_of_executed_units: *//p' build/crashes/$*.log) inputs"; \
	else cat build/crashes/$*.log; echo "error: $*: the input is in build/crashes/" >&2; exit 1; fi
endef

$(NATIVE_FUZZERS:%=fuzz-run-%): fuzz-run-%:
	$(call run-fuzzer,$(FIXED_ADDRESSES) "$$(find build/fuzz -type f -name $*)")

$(PYTHON_FUZZERS:%=fuzz-run-%): fuzz-run-%:
	$(call run-fuzzer,$(DEV)/bin/python fuzz/$*.py)

# --- docs and wheels ---

docs: $(DEV)/.stamp-tfrkit $(DEV)/.stamp-group-docs
	$(DEV)/bin/python docs/generate.py
	$(DEV)/bin/python -m pytest -q tests/test_docs.py tests/test_recordings.py tests/test_doctests.py tests/test_rules.py

wheels:
	@tools/ensure.sh compiler
	PYTHON="$(PYTHON)" tools/build_wheels.sh dist

clean:
	rm -rf build dist .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis src/tfrkit/_core.pyi
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
