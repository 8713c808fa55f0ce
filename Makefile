SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-builtin-rules
.DEFAULT_GOAL := help

BIN := bin
STATE := .local
RELEASE := $(shell git describe --tags --always --dirty 2>/dev/null)
# Flags that every build shares; with others, each package would be compiled once more.
BUILD := CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '-s -w -X main.release=$(RELEASE)' -o $(BIN)/
LINT := go tool -modfile=hack/tools/go.mod golangci-lint
MODULES := $(sort $(dir $(shell find . -name go.mod -not -path "./$(STATE)/*")))
# The time limit is that of one package; the slowest tests start control planes of their own.
# Never from the cache: tests also run binaries that it knows nothing of.
TEST := go test -race -count=1 -timeout 30m

CLUSTER_BINARIES := $(addprefix $(BIN)/,localcluster controlplane kubectl kwok agent-sandbox-controller)
CLUSTER_SOURCES := $(shell find hack/localcluster -type f)

##@ Start here

.PHONY: help
help: ## Print this list
	@awk 'BEGIN { FS = ":.*## " } \
	  /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo

.PHONY: demo
ifeq ($(origin KUBECONFIG),command line)
demo: build ## Show everything at work on a local cluster (KUBECONFIG=FILE: on that one)
	$(BIN)/demo --existing
else
demo: build localcluster
	@if [[ -n "$${KUBECONFIG-}" ]]; then \
	  echo 'demo: not using the KUBECONFIG of the environment; make demo KUBECONFIG=FILE uses an existing cluster'; fi
	@$(BIN)/localcluster run --state-dir $(STATE)/demo --crds generated/crds -- $(BIN)/demo
endif

##@ Test

.PHONY: test
test: localcluster ## Run all tests with the race detector, on a cluster of their own
	@echo 'test: every package, with the race detector, on a fresh control plane with the real agent-sandbox operator'
	@cd hack/localcluster && go test -race ./crds ./localcluster
	@$(BIN)/localcluster run --fresh --state-dir $(STATE)/test --crds generated/crds -- \
	  env KUBE_CACHE_MUTATION_DETECTOR=true $(TEST) ./...

.PHONY: test-unit
test-unit: ## Run the tests that need no cluster; the others skip
	@env -u POLYCHROME_TEST_KUBECONFIG -u POLYCHROME_TEST_BIN KUBE_CACHE_MUTATION_DETECTOR=true $(TEST) ./...

.PHONY: verify
verify: ## Check format, generated code, layering, lint and modules; writes nothing
	@echo 'verify: format'
	@unformatted=$$(find . -name '*.go' -not -path './$(STATE)/*' -print0 | xargs -0 gofmt -l); \
	  if [[ -n "$$unformatted" ]]; then echo "not formatted; make fmt does it:"; echo "$$unformatted"; exit 1; fi
	@echo 'verify: generated code'
	@hack/verify-codegen.sh
	@echo 'verify: layering'
	@go test ./hack/layering
	@echo 'verify: lint'
	@$(LINT) run ./...
	@for module in $(MODULES); do \
	  echo "verify: tidiness of $$module"; \
	  (cd "$$module" && go mod tidy -diff); done

##@ Change

.PHONY: generate
generate: ## Regenerate clients, deep copies and CRDs from the API types
	hack/update-codegen.sh

.PHONY: fmt
fmt: ## Format all Go code
	@find . -name '*.go' -not -path './$(STATE)/*' -print0 | xargs -0 gofmt -l -w

.PHONY: lint
lint: ## Run the linters
	$(LINT) run ./...

##@ Build

.PHONY: build
build: ## Build the controller and the demo into bin/
	@$(BUILD) ./cmd/polychrome-controller ./hack/demo

.PHONY: localcluster
localcluster: $(CLUSTER_BINARIES) ## Build the local cluster into bin/; minutes the first time

$(CLUSTER_BINARIES) &: $(CLUSTER_SOURCES)
	@echo 'localcluster: building Kubernetes; the first time this takes 5 to 10 minutes on two cores'
	@hack/localcluster/build.sh $(BIN)

.PHONY: clean
clean: ## Remove what was built and the state of local clusters
	rm -rf $(BIN) $(STATE)
