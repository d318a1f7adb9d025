# Two commands do everything: `make demo` and `make test`. Both make the environment when it is missing.
VENV := .venv
PYTHON := $(VENV)/bin/python
STAMP := $(VENV)/.installed
BROWSER := $(VENV)/.browser
DOCS := $(VENV)/.docs

.PHONY: demo test test-all lint docs benchmarks clean

demo: $(STAMP)
	@$(VENV)/bin/onesided demo

test: $(STAMP) $(BROWSER)
	$(PYTHON) -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m "not slow"

test-all: $(STAMP) $(BROWSER)
	$(PYTHON) -m pytest -n 2 --dist loadfile --no-loadscope-reorder

lint: $(STAMP)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

docs: $(DOCS)
	$(PYTHON) docs/build_pages.py
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --strict --quiet
	@echo "documentation in site/index.html"

benchmarks: $(STAMP)
	for script in benchmarks/*.py; do $(PYTHON) $$script || exit 1; done

$(STAMP): pyproject.toml
	python3 -m venv $(VENV)
	@if command -v uv >/dev/null 2>&1; then \
		uv pip install --quiet --python $(PYTHON) --editable '.[dev]'; \
	else \
		$(PYTHON) -m pip install --quiet --disable-pip-version-check --editable '.[dev]'; \
	fi
	@$(PYTHON) -c "import numpy; from onesided.complementarity import LCP, solve; solve(LCP(numpy.eye(2), -numpy.ones(2)))"
	@touch $@

$(DOCS): $(STAMP)
	@if command -v uv >/dev/null 2>&1; then \
		uv pip install --quiet --python $(PYTHON) --editable '.[docs]'; \
	else \
		$(PYTHON) -m pip install --quiet --disable-pip-version-check --editable '.[docs]'; \
	fi
	@touch $@

# for the tests of the report; where none can be had they are skipped
$(BROWSER): $(STAMP)
	@$(PYTHON) tests/report/get_browser.py
	@touch $@

clean:
	rm -rf $(VENV)
