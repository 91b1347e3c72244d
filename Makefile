# `make serve` starts Muniment and `make test` tests it. `make help` lists the other commands.
.DEFAULT_GOAL := help
BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest

.PHONY: help serve test test-faults coverage check check-tools format bench lock clean setup-runtime setup-dev

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

serve: setup-runtime ## Install Muniment and run it; Ctrl-C stops it
	@exec $(BIN)/muniment serve

test: setup-dev check-tools ## Run the linters, the type checkers and all tests, as CI does
	@$(PYTEST) -n 3 --dist worksteal

test-faults: setup-dev ## Run the fault tests that take too long for `make test`: a process killed at every step
	@$(PYTEST) -n 2 --dist worksteal -m every_fault

coverage: setup-dev ## Run all tests and report line and branch coverage; details in htmlcov/index.html
	@$(PYTEST) -n 3 --dist worksteal --cov --cov-report=html --cov-report=term:skip-covered

check: setup-dev check-tools ## Run the linters, the type checkers and the tests that need no server
	@$(PYTEST) -q -n 2 --dist worksteal -m "not slow and not servers and not every_fault"

format: setup-dev ## Format the code and fix what the linters can fix
	@$(BIN)/ruff format --quiet .
	@$(BIN)/ruff check --quiet --fix .
	@tools/web npx biome check --write --log-level=warn

bench: setup-dev ## Run the benchmarks; results are ratios within one run
	@tools/setup bench
	@$(BIN)/python -m benchmarks

lock: setup-dev ## Update requirements/*.lock from pyproject.toml
	@tools/lock

clean: ## Delete the virtual environment, caches and build output; data is kept
	@rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .screenshots .coverage* htmlcov
	@rm -rf web/node_modules web/.next web/out web/tsconfig.tsbuildinfo src/muniment/web/static

check-tools:
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo >/dev/null || $(BIN)/lint-imports
	@tools/web npx tsc --noEmit
	@tools/web npx biome check --log-level=warn
	@tools/web npx vitest run --silent --reporter=dot --maxWorkers=2

setup-runtime:
	@tools/setup runtime

setup-dev:
	@tools/setup dev
