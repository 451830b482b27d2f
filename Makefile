# SPDX-License-Identifier: Apache-2.0
# The short commands; Meson does the work (meson.build). `make help` lists them.
BUILD  ?= build
PREFIX ?= /usr/local
# Not Meson's lib64 or lib/x86_64-linux-gnu: under /usr/local, `lib` is where every loader and pkg-config look.
LIBDIR ?= lib
DESTDIR ?=
MESON  ?= meson
NINJA  ?= ninja

.DEFAULT_GOAL := all
.PHONY: all demo test sanitize bench long coverage chaos install clean help setup

all: $(BUILD)/.configured
	$(NINJA) -C $(BUILD)

# The library, the tools and the examples: tests and benchmarks are built by the targets that run them.
# What `make` needs is only checked; `demo`, `test` and `sanitize` install what they lack.
$(BUILD)/.configured:
	sh tools/setup.sh --check build
	$(MESON) setup $(if $(wildcard $(BUILD)/build.ninja),--reconfigure) --prefix=$(PREFIX) --libdir=$(LIBDIR) -Dtests=disabled -Dbench=false $(BUILD)
	@touch $@

# Tests measure with the benchmarks too. Object files of the library stay.
$(BUILD)/.with-tests: $(BUILD)/.configured
	$(MESON) configure $(BUILD) -Dtests=enabled -Dbench=true
	@touch $@

$(BUILD)/.with-bench: $(BUILD)/.configured
	$(MESON) configure $(BUILD) -Dbench=true
	@touch $@

setup:
	@sh tools/setup.sh build test sanitize

demo:
	@sh tools/setup.sh build
	@$(MAKE) --no-print-directory all
	@sh tools/demo.sh $(BUILD)

# Data sets with published answers, where they lie beside the checkout; another folder: make test HDST_TEST_DATA=FOLDER.
TEST_DATA = [ -n "$$HDST_TEST_DATA" ] || [ ! -d ../shared/data ] || export HDST_TEST_DATA="$$(cd ../shared/data && pwd)";

test:
	@sh tools/setup.sh build test
	@$(MAKE) --no-print-directory $(BUILD)/.with-tests
	$(NINJA) -C $(BUILD)
	@python3 tests/support/pocl_subset.py $(BUILD)/tests/pocl
	@$(TEST_DATA) code=0; $(MESON) test -C $(BUILD) --no-rebuild --print-errorlogs || code=$$?; sh tests/skips.sh $(BUILD)/meson-logs/testlog.txt; exit $$code

sanitize:
	@sh tools/setup.sh build test sanitize
	@bash tests/sanitize/run.sh

bench:
	@sh tools/setup.sh build
	@$(MAKE) --no-print-directory $(BUILD)/.with-bench
	$(NINJA) -C $(BUILD)
	@python3 bench/run.py --build $(BUILD)

# Random programs on the interpreter and as kernels, by the thousand: other ones in every run. It prints the seed; with the same one they are the same.
# (A thousand programs over texts in each form take a core 50 minutes, nearly all of it in PoCL's compiler: 2.4 s of a program for the kernels as GPUs get them,
# 0.7 s for those of a CPU.)
LONG_PROGRAMS ?= 10000
LONG_KERNELS ?= 2000
LONG_PIPELINES ?= 500
LONG_CHAINS ?= 300
# Then all tests with kernels as the optimiser leaves them and PoCL as it is installed, which `make test` asks of some only (tests/meson.build).
# Then the errors of the mathematics: every how many-th float, and how many points where there are too many numbers to try all. Then all of tests/mutation.
LONG_FLOATS ?= 1
LONG_POINTS ?= 10000000
ifndef LONG_SEED
LONG_SEED := $(shell date +%s)0000
endif
long:
	@sh tools/setup.sh build test
	@$(MAKE) --no-print-directory $(BUILD)/.with-tests
	$(NINJA) -C $(BUILD)
	@echo "make long: LONG_SEED=$(LONG_SEED) LONG_PROGRAMS=$(LONG_PROGRAMS) LONG_KERNELS=$(LONG_KERNELS)" \
		"LONG_PIPELINES=$(LONG_PIPELINES) LONG_CHAINS=$(LONG_CHAINS)"
	@HDST_DIFF_HANG=600 HDST_DIFF_SEED=$(LONG_SEED) HDST_DIFF_PROGRAMS=$(LONG_PROGRAMS) HDST_DIFF_KERNELS=$(LONG_KERNELS) \
		HDST_DIFF_PIPELINES=$(LONG_PIPELINES) HDST_DIFF_MISTAKES=$(LONG_PROGRAMS) \
		$(MESON) test -C $(BUILD) --no-rebuild --verbose --num-processes 1 --suite differential
	@$(TEST_DATA) $(MESON) test -C $(BUILD) --no-rebuild --print-errorlogs --wrapper 'env -u POCL_EXTRA_BUILD_FLAGS -u OCL_ICD_VENDORS'
	for device in interp cpu; do \
		$(BUILD)/tests/hdst/budget_matrix --rss $$device 4 16 64 256 && \
		$(BUILD)/tests/hdst/budget_matrix $$device 2 1024 || [ $$? = 77 ] || exit 1; \
	done
	last=$$(( $(LONG_SEED) + $(LONG_CHAINS) - 1 )); for device in interp cpu gpu-form team; do \
		$(BUILD)/tests/hdst/budget_chains $$device 16 $(LONG_SEED)-$$last || [ $$? = 77 ] || exit 1; \
	done
	python3 tests/differential/team_sums.py $(BUILD)/libhdst.so.0 $(LONG_SEED) $(LONG_PIPELINES) || [ $$? = 77 ]
	OCL_ICD_VENDORS=$(abspath $(BUILD))/tests/pocl/vendors HDST_BINARY_STARTS=1000000 \
		python3 tests/differential/again.py $(BUILD)/tests/differential/run_again $(LONG_SEED) 40@
	python3 tests/differential/text_programs.py $(BUILD)/tests/differential/run_plans $(LONG_SEED) 1000
	OCL_ICD_VENDORS=$(abspath $(BUILD))/tests/pocl/vendors HDST_BINARY_STARTS=1000000 HDST_DIFF_EACH=cpu,gpu-form \
		python3 tests/differential/text_programs.py $(BUILD)/tests/differential/run_plans $(LONG_SEED) 1000
	python3 tests/examples/huge_texts.py $(BUILD)/examples 100 10
	$(BUILD)/tests/drivers/driver_many_jobs 20000 || [ $$? = 77 ]
	for device in interp cpu gpu-form; do $(BUILD)/tests/drivers/driver_same_context 20000 $$device || [ $$? = 77 ] || exit 1; done
	$(BUILD)/bench/math_errors --every $(LONG_FLOATS) --points $(LONG_POINTS)
	@python3 tests/mutation/run.py

# Which lines of the compiler the random programs reach. Another suite: make coverage COVERAGE_SUITE=codegen
COVERAGE_SUITE ?= differential
COVERAGE_KERNELS ?= 160
COVERAGE_PROGRAMS ?= 900
coverage: export HDST_DIFF_KERNELS ?= $(COVERAGE_KERNELS)
coverage: export HDST_DIFF_PROGRAMS ?= $(COVERAGE_PROGRAMS)
coverage:
	@sh tools/setup.sh build test
	@test -f build-coverage/build.ninja || $(MESON) setup build-coverage -Dtests=enabled -Db_coverage=true -Dbuildtype=debugoptimized
	@find build-coverage -name '*.gcda' -delete
	$(MESON) test -C build-coverage --suite $(COVERAGE_SUITE)
	@python3 tests/coverage.py --least 90 build-coverage

chaos:
	@echo "make chaos: not there yet (it will kill and damage running jobs and check that they finish)" >&2; exit 2

# Builds with the wanted prefix, so that hdst.pc names the right folders. Installing into a system folder needs root rights.
install: all
	@sh tools/install.sh $(BUILD) "$(PREFIX)" "$(DESTDIR)"

clean:
	rm -rf $(BUILD) build-asan build-tsan build-fuzz build-bundle build-coverage .gpu-bundle

help:
	@echo "make            release build of library, tools and examples in $(BUILD)/"
	@echo "make demo       KMeans on real points: installs what is missing, builds, runs, draws a picture"
	@echo "make test       builds and runs the test suite (installs what is missing)"
	@echo "make sanitize   address, undefined-behaviour and thread sanitizers, fuzzing, Oclgrind"
	@echo "make bench      hdst beside hand-written C, as a table"
	@echo "make long       runs that take hours"
	@echo "make coverage   which lines of the compiler the random programs reach"
	@echo "make chaos      kills and damages running jobs"
	@echo "make install    library, headers, hdst.pc and the hdst command into PREFIX (default $(PREFIX)); DESTDIR is honoured"
	@echo "make setup      only installs what the targets above need"
	@echo "make clean      removes the build folders"
	@echo "HDST_NO_INSTALL=1 keeps every target from installing packages."
