# Every verb stands alone on a fresh clone: it sets up what it needs first.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin

BUILD := pyproject.toml hatch_build.py $(wildcard src/discreet/*/*.c src/discreet/*/*/*.c)
INSTALL := $(RUN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: setup everything demo pictures mnist test slow spark faults mutants quick-mutants check format bench docs compiler postgres java clients wheel sanitize clean

setup: $(VENV)/.test                    ## the package and what most tests need

everything: $(VENV)/.dev $(VENV)/.docs  ## PyTorch, Spark, the linters and Sphinx as well

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# Each file stands for a stage of the setup. A larger stage contains the smaller ones.
$(VENV)/.core: $(BUILD) | $(VENV)/bin/python
	$(INSTALL) --editable .
	@touch $@

# The demo asks a service at its end: a web server, 8 MB.
$(VENV)/.service: $(BUILD) | $(VENV)/bin/python
	$(INSTALL) --editable '.[service]'
	@touch $(VENV)/.core $@

$(VENV)/.test: $(BUILD) | $(VENV)/bin/python
	$(INSTALL) --editable '.[test]'
	@touch $(VENV)/.core $(VENV)/.service $@

# PyTorch first and exactly: a range, or another package that asks for it, brings gigabytes for graphics cards.
$(VENV)/.torch: | $(VENV)/bin/python
	$(INSTALL) torch==2.13.0
	@touch $@

$(VENV)/.dev: $(BUILD) | $(VENV)/.torch
	$(INSTALL) --editable '.[dev]'
	@touch $(VENV)/.core $(VENV)/.service $(VENV)/.test $@

$(VENV)/.docs: pyproject.toml | $(VENV)/.dev
	$(INSTALL) --editable '.[docs]'
	@touch $@

# Opacus asks for any PyTorch: it comes without what it asks for.
$(VENV)/.bench: pyproject.toml | $(VENV)/.dev
	$(INSTALL) --no-deps opacus==1.6.0
	$(INSTALL) opt-einsum --editable '.[bench]'
	@touch $@

demo: $(VENV)/.service  ## the whole story on a hospital that does not exist, with a report to look at
	$(RUN)/python examples/demo.py

pictures: setup        ## three pictures of accounting
	$(RUN)/python examples/accounting_pictures.py

mnist: $(VENV)/.dev     ## accuracy against ε on MNIST, in a table and a picture; `make mnist DATA=FOLDER`
	$(RUN)/python examples/mnist.py --data $(or $(DATA),../shared/data/mnist) --report benchmarks/results/mnist.md

# The tests start many processes. Each would compile the package anew where no bytecode is written.
test slow spark faults: export PYTHONDONTWRITEBYTECODE =

test: setup            ## nearly all tests, slow ones with some of their cases; PyTorch and Spark where installed
	$(RUN)/python -m pytest --quiet --numprocesses 2 --dist loadgroup

slow: setup            ## cases and examples that `make test` leaves out, and the statistical suites
	DISCREET_CASES=slow $(RUN)/python -m pytest --quiet --numprocesses 2 -m "(slow or hypothesis) and not spark and not faults"

spark: $(VENV)/.dev     ## the tests on Spark that `make test` leaves out: half an hour
	$(RUN)/python -m pytest --quiet --numprocesses 2 -m spark tests/contracts tests/attacks tests/unit

faults: setup          ## kills, races, broken disks: the full profile
	DISCREET_CASES=all DISCREET_FAULTS=full $(RUN)/python -m pytest --quiet --numprocesses 2 -m "faults or not slow" tests/faults

mutants: $(VENV)/.dev   ## planted bugs, each of which some test must catch
	PYTHONPATH=tests $(RUN)/python -m mutants

quick-mutants: $(VENV)/.dev  ## those near what has changed since .ci/mutants-base, and a tenth of the others
	PYTHONPATH=tests $(RUN)/python -m mutants --quick

check: $(VENV)/.dev     ## lint, types, layers
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/mypy
	$(RUN)/lint-imports

format: $(VENV)/.dev
	$(RUN)/ruff check --fix .
	$(RUN)/ruff format .

bench: $(VENV)/.bench  ## ours beside the peers, in one run; tables go to benchmarks/results/
	$(RUN)/python benchmarks/noise.py
	$(RUN)/python benchmarks/selection.py
	$(RUN)/python benchmarks/quantiles.py
	$(RUN)/python benchmarks/models.py
	$(RUN)/python benchmarks/accounting.py
	$(RUN)/python benchmarks/accounting_sweep.py
	$(RUN)/python benchmarks/ledger.py
	$(RUN)/python benchmarks/peers_venv.py
	$(RUN)/python benchmarks/sql_corpus.py --report
	$(RUN)/python benchmarks/queries.py --large
	$(RUN)/python benchmarks/personal.py
	$(RUN)/python benchmarks/charging.py
	$(RUN)/python benchmarks/local.py
	$(RUN)/python benchmarks/anonymity.py
	$(RUN)/python benchmarks/postgres.py
	$(RUN)/python benchmarks/spark.py
	$(RUN)/python benchmarks/scaling.py
	$(RUN)/python benchmarks/training.py
	$(RUN)/python benchmarks/service.py

docs: $(VENV)/.docs    ## HTML in docs/_build/html, with every example run
	$(RUN)/python -m sphinx -W --keep-going -q -b doctest docs docs/_build/doctest
	$(RUN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html

compiler:              ## the C compiler that makes some loops fast, where it is missing (Debian, Ubuntu)
	@.ci/compiler

postgres:              ## the server that some tests start, where it is missing (Debian, Ubuntu)
	@.ci/postgres

java:                  ## what Spark runs on, where it is missing (Debian, Ubuntu)
	@.ci/java

clients:               ## psql and JDBC, with which some tests ask the service, where they are missing (Debian, Ubuntu)
	@.ci/clients

wheel: $(VENV)/bin/python  ## one wheel for this kind of machine in dist/, and the demo run from it in an empty environment
	@.ci/wheel $(RUN)/python

sanitize: setup        ## warnings of the compiler as errors; tests of compiled parts with ASan and UBSan
	@.ci/sanitize $(RUN)/python

clean:
	find src tests examples benchmarks docs -name __pycache__ -prune -exec rm -rf {} +
	find src '(' -name 'lib*.so' -o -name 'lib*.dylib' -o -name '*.dll' ')' -delete
	rm -rf $(VENV) discreet-demo* demo-noise.png privacy-curve.png least-noise.png composition-theorems.png personal-year.png local-browsers.png mnist-accuracy.png mnist-runs.json docs/_build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
