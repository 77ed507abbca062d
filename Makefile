PYTHON ?= python3.11
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.PHONY: install test demo lint games clean

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt tests/peers.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r tests/peers.txt
	touch $(STAMP)

test: install
	$(BIN)/ruff check src tests
	$(BIN)/mypy
	$(BIN)/python -m pytest

lint: install
	$(BIN)/ruff check src tests
	$(BIN)/mypy

# The engines that do not come with pip (Freedoom does). gcc and libc6-dev build the preload shim.
GAME_PACKAGES := minetest minetest-data openarena xvfb libgl1-mesa-dri gcc libc6-dev
SUDO := $(shell test "$$(id -u)" = 0 || echo sudo)

games:
	@command -v apt-get > /dev/null || { echo "make games needs apt-get; install by hand: $(GAME_PACKAGES)" >&2; exit 1; }
	$(SUDO) apt-get update --quiet
	$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends $(GAME_PACKAGES)

clean:
	rm -rf $(VENV) build dist *.egg-info
