# Two commands: `make demo` shows the product on the shipped project, `make test` checks everything.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test check clean

demo: $(VENV)/installed
	@$(BIN)/python scripts/demo.py

test: $(VENV)/installed
	@scripts/check

$(VENV)/installed: pyproject.toml constraints.txt
	@$(PYTHON) scripts/require_python.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

clean:
	rm -rf $(VENV) .rag-audit .mypy_cache .ruff_cache .pytest_cache .hypothesis
