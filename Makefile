# Two commands: `make serve` starts Muniment, `make test` proves it. `make help` lists the rest.
.DEFAULT_GOAL := help
BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest

.PHONY: help serve test test-faults check check-tools bench lock clean setup-runtime setup-dev

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

serve: setup-runtime ## Install the dependencies and start Muniment; stop with Ctrl-C
	@exec $(BIN)/muniment serve

test: setup-dev check-tools ## Run the checks and the full test suite
	@$(PYTEST) -n 3 --dist loadgroup

test-faults: setup-dev ## Run the long fault-injection tests that `make test` leaves out
	@$(PYTEST) -n 2 --dist loadgroup -m every_fault

check: setup-dev check-tools ## Run ruff, mypy, import-linter, tsc, Vitest and the fast tests
	@$(PYTEST) -q -n 2 -m "not slow"

bench: setup-dev ## Run the benchmarks
	@$(BIN)/python -m benchmarks

lock: setup-dev ## Update the dependency lock files
	@tools/lock

clean: ## Remove the environment, caches and the built web page; keep the data
	@rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .screenshots
	@rm -rf web/node_modules web/.next web/out web/tsconfig.tsbuildinfo src/muniment/web/static

check-tools:
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo >/dev/null || $(BIN)/lint-imports
	@tools/web npx tsc --noEmit
	@tools/web npx vitest run --silent --reporter=dot --maxWorkers=2

setup-runtime:
	@tools/setup runtime

setup-dev:
	@tools/setup dev
