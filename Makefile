# Two commands do all the set-up: `make app` runs the product, `make test` passes the tests.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
WORKERS ?= 2
PORT ?= 8501

.PHONY: app test check bench test-model clean

app: $(VENV)/.installed
	$(BIN)/python -m core index --corpus film_night
	$(BIN)/python -m streamlit run app.py --server.port $(PORT)

test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/core/test_import_direction.py

bench: $(VENV)/.installed-dev
	$(PIP) -r benchmarks/requirements.txt
	$(BIN)/python -m benchmarks

test-model: $(VENV)/.installed-dev
	$(PIP) -r requirements-local-model.txt
	$(BIN)/python -m tests.local_model.fetch_weights
	$(BIN)/python -m pytest -m local_model tests/local_model

$(VENV)/.installed: requirements.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) -r requirements.txt
	touch $@

$(VENV)/.installed-dev: requirements-dev.txt $(VENV)/.installed
	$(PIP) -r requirements-dev.txt
	touch $@

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
