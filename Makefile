# make score      the four scores of the sample predictions     make lint     ruff check, ruff format --check
# make app        the app, at http://127.0.0.1:7860             make format   let ruff repair what it can
# make test       the whole test suite (PYTEST_ARGS="-k facts") make clean    remove what was built and installed
# make pictures   the pictures of the README, with Chromium
# make bench      speed beside the original packages (BENCH_ARGS="--pairs 2000 --json bench.json")
# Everything is installed into .venv, once; a changed requirements file or pyproject.toml installs again.

PYTHON ?= python3
PYTEST_ARGS ?=
BENCH_ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check
SAMPLE := argscichat_dataset/sample

# Stamps: a recipe that fails stops before its last line, so it leaves none and the next call tries again.
CREATED := $(VENV)/.created
INSTALLED := $(VENV)/.installed
INSTALLED_TEST := $(VENV)/.installed-test

.DELETE_ON_ERROR:
.PHONY: score app test lint format bench pictures clean

score: $(INSTALLED)
	@$(BIN)/argscichat score $(SAMPLE)/predictions_demo_agent.jsonl $(SAMPLE)/sample_test.json

app: $(INSTALLED)
	@$(BIN)/python app.py

test: $(INSTALLED_TEST)
	$(BIN)/python -m pytest $(PYTEST_ARGS)

lint: $(INSTALLED_TEST)
	$(BIN)/ruff check
	$(BIN)/ruff format --check

format: $(INSTALLED_TEST)
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(INSTALLED_TEST)
	$(BIN)/python benchmarks/bench_beir.py
	$(BIN)/python benchmarks/bench_retrieval.py
	$(BIN)/python -m benchmarks.bench_confidence
	$(BIN)/python benchmarks/bench_scores.py $(BENCH_ARGS)

pictures: $(INSTALLED_TEST)
	$(BIN)/python docs/make_pictures.py

clean:
	rm -rf $(VENV) build dist *.egg-info .hypothesis .pytest_cache .ruff_cache
	find . -name .git -prune -o -type d -name __pycache__ -exec rm -rf {} +

# --clear, so that a half-made environment (no ensurepip, an interrupted run) is never taken for a whole one.
$(CREATED):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "The pinned packages need Python 3.11 or newer: make PYTHON=python3.11 ...")'
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(INSTALLED): requirements.txt pyproject.toml | $(CREATED)
	@echo "Installing the pinned packages into $(VENV): a few minutes, this once."
	@$(PIP_INSTALL) -r requirements.txt
	@$(PIP_INSTALL) --no-deps --editable .
	@touch $@

$(INSTALLED_TEST): requirements-test.txt requirements-parity.txt $(INSTALLED)
	@echo "Installing the test requirements into $(VENV)."
	@$(PIP_INSTALL) -r requirements-test.txt
	@$(PIP_INSTALL) --no-deps -r requirements-parity.txt
	@touch $@
