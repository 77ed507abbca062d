PYTHON ?= python3.11
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.PHONY: install shell locked test fast faults demo docs lint games bench clean

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt tests/peers.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r tests/peers.txt
	touch $(STAMP)

# A shell in which `actswm` and `python` are this project's.
shell: install
	. $(BIN)/activate && exec $${SHELL:-sh}

# Exactly the environment that the project is tested in, hashes checked (Linux on x86-64, CPython 3.11); CI uses it.
locked:
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	touch $(STAMP)

test: install
	$(BIN)/ruff check src tests
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2 --dist worksteal

# For daily work: formulas, files, pages and the rules of the house; no engine, browser, training or published figure.
FAST := $(addprefix tests/,data diagnosis formats model objective report results/test_records.py planning/test_cem.py planning/test_phase.py) \
	$(filter-out tests/test_browser.py tests/test_executor.py,$(wildcard tests/test_*.py)) tests/docs/test_architecture.py

fast: install
	$(BIN)/ruff check src tests
	$(BIN)/python -m pytest -n 2 --dist worksteal $(FAST)

# Thousands of damaged inputs, kills, full disks (docs/reliability.md); some minutes of them are part of `test`.
faults: install
	$(BIN)/python -m tests.faults --json build/faults.json

# A world model that ignores its actions beside an action-sensitive one: records, trains, diagnoses, plans, reports.
demo: install
	$(BIN)/actswm demo

lint: install
	$(BIN)/ruff check src tests
	$(BIN)/mypy

docs: install
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

# The engines that do not come with pip (Freedoom does), and the browser that tests look at pages with.
# gcc and libc6-dev build the preload shim.
GAME_PACKAGES := minetest minetest-data openarena xvfb libgl1-mesa-dri gcc libc6-dev chromium
SUDO := $(shell test "$$(id -u)" = 0 || echo sudo)

games:
	@command -v apt-get > /dev/null || { echo "make games needs apt-get; install by hand: $(GAME_PACKAGES)" >&2; exit 1; }
	$(SUDO) apt-get update --quiet
	$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends $(GAME_PACKAGES)

# stable-worldmodel wants torchvision, which has no CPU build that fits: its light requirements are the `bench` extra.
# Ray comes along: its tests start a cluster of two nodes.
bench: install
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev,bench,ray]"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps stable-worldmodel==0.1.1

clean:
	rm -rf $(VENV) build dist *.egg-info
