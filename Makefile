# The commands of the project. Each one sets up what it needs in .venv on first use.

VENV ?= .venv
BIN := $(VENV)/bin
LAB := $(VENV)/.lab
READY := $(VENV)/.ready
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e
BENCH := out/benchmarks
export OPENBLAS_NUM_THREADS ?= 1
unexport PYTHONDONTWRITEBYTECODE  # or every process compiles every module again

.PHONY: help paper test check format verify bench clean

help:
	@echo "make paper    recompute the paper's study; ends with what holds (about a minute, after installation)"
	@echo "make test     run all tests (about five minutes on two cores)"
	@echo "make check    format, lint, types"
	@echo "make verify   run the studies behind docs/evidence and the long tests (hours; goes on where it stopped)"
	@echo "make bench    measure speed and memory on this machine (ten minutes; leave it idle)"
	@echo "make format   rewrite the sources in the house format"
	@echo "make clean    remove what the other commands made"

$(LAB): pyproject.toml constraints.txt
	@echo "installing what the study needs in $(VENV) (once)"
	@began=$$(date +%s) && python3 -m venv $(VENV) && $(INSTALL) '.[lab]' && touch $@ && \
	echo "installation took $$(( $$(date +%s) - began )) s"

$(READY): $(LAB)
	@echo "installing what developers need in $(VENV) (once)"
	$(INSTALL) '.[lab,cluster,dev]'
	@touch $@

paper: $(LAB)
	$(BIN)/neurotron paper --out out/paper

test: $(READY)
	$(BIN)/pytest -n auto --dist loadfile

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

verify: $(READY)
	@began=$$(date +%s) && \
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -r research/requirements.txt && \
	$(BIN)/python -m research.evidence && \
	$(BIN)/python -m research.pages && \
	$(BIN)/python -m docs.pictures && \
	NEUROTRON_RESUME=1 $(BIN)/pytest -n auto --dist load -m long && \
	echo "make verify took $$(( ($$(date +%s) - began) / 60 )) minutes in all"

bench: $(READY)
	mkdir -p $(BENCH)
	$(BIN)/pytest benchmarks -p benchmark --benchmark-json=$(BENCH)/timings.json \
		--benchmark-columns=min,median,max,rounds
	$(BIN)/python -m benchmarks.solver
	$(BIN)/python -m benchmarks.regressor
	$(BIN)/python -m benchmarks.verifying
	$(BIN)/python -m benchmarks.activations
	$(BIN)/python -m benchmarks.auditing
	$(BIN)/python -m benchmarks $(BENCH)/timings.json

clean:
	rm -rf $(VENV) out build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
