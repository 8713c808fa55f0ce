#!/usr/bin/env bash
# Generates everything that is generated: deepcopy functions, apply
# configurations, clients, listers, informers and CustomResourceDefinitions.
# The tools are pinned in hack/tools/go.mod and come from the module cache; the
# output depends on the API types and on nothing else.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"

module=polychrome.dev/controller
header=hack/boilerplate.go.txt

# Outside the tree, so that verification shares them and writes nothing.
bin="${XDG_CACHE_HOME:-$HOME/.cache}/polychrome-codegen"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

# Says what is generated next: from the versions that lie in one folder into
# another. It is made beside the tree and moved into it at the end: the tree
# compiles all the time, and what a removed type leaves behind goes.
from() {
	apis="$1" into="$2"
	versions=("${@:3}")
	packages=("${versions[@]/#/$module/$apis/}")
	generated="$module/$into"
	out="$work/$into"
}

build_tools() {
	GOBIN="$bin" go -C hack/tools install \
		k8s.io/code-generator/cmd/{applyconfiguration,client,deepcopy,informer,lister}-gen \
		k8s.io/kube-openapi/cmd/openapi-gen \
		sigs.k8s.io/controller-tools/cmd/controller-gen
}

deepcopy() {
	"$bin/deepcopy-gen" --go-header-file "$header" \
		--output-file zz_generated.deepcopy.go "${packages[@]}"
}

# The models are laid over the tree for the one program that prints them, and
# never stored: only the apply configurations need them.
models() {
	"$bin/openapi-gen" --go-header-file "$header" --report-filename "$work/api-violations" \
		--output-dir "$work/openapi" --output-pkg "$generated/openapi" \
		--output-file openapi.go \
		"${packages[@]}" \
		k8s.io/api/core/v1 \
		k8s.io/apimachinery/pkg/api/resource \
		k8s.io/apimachinery/pkg/apis/meta/v1 \
		k8s.io/apimachinery/pkg/runtime
	printf '{"Replace": {"%s": "%s"}}' \
		"$root/generated/openapi/openapi.go" "$work/openapi/openapi.go" >"$work/overlay.json"
	go run -overlay "$work/overlay.json" hack/modelschema/main.go >"$work/models.json"
}

apply_configurations() {
	"$bin/applyconfiguration-gen" --go-header-file "$header" \
		--output-dir "$out"/applyconfiguration --output-pkg "$generated/applyconfiguration" \
		"$@" "${packages[@]}"
}

modelled_apply_configurations() {
	models
	apply_configurations --openapi-schema "$work/models.json" \
		--external-applyconfigurations k8s.io/api/core/v1.PersistentVolumeClaimSpec:k8s.io/client-go/applyconfigurations/core/v1
}

clients() {
	"$bin/client-gen" --go-header-file "$header" \
		--output-dir "$out"/clientset --output-pkg "$generated/clientset" \
		--clientset-name versioned \
		--apply-configuration-package "$generated/applyconfiguration" \
		--input-base "$module/$apis" "${versions[@]/#/--input=}"
	"$bin/lister-gen" --go-header-file "$header" \
		--output-dir "$out"/listers --output-pkg "$generated/listers" "${packages[@]}"
	"$bin/informer-gen" --go-header-file "$header" \
		--output-dir "$out"/informers --output-pkg "$generated/informers" \
		--versioned-clientset-package "$generated/clientset/versioned" \
		--listers-package "$generated/listers" "${packages[@]}"
}

definitions() {
	mkdir -p "$out"/crds "$out"/testcrds/v1alpha1 "$out"/testcrds/v1beta1
	"$bin/controller-gen" crd paths=./apis/polychrome/... output:crd:dir="$out"/crds
	"$bin/controller-gen" crd paths=./apis/agentsandbox/... output:crd:dir="$out"/testcrds
	local version name
	for version in v1alpha1 v1beta1; do
		"$bin/controller-gen" crd "paths=./apis/agentsandbox/$version" "output:crd:dir=$out/testcrds/$version"
	done
	for name in crds testcrds; do
		cp "hack/tools/templates/$name.go.txt" "$out/$name/$name.go"
	done
	{
		printf 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n'
		find "$out"/crds -name '*_*.yaml' -printf '- %f\n' | LC_ALL=C sort
	} >"$out"/crds/kustomization.yaml
}

website_definition() {
	"$bin/controller-gen" crd "paths=./$apis/api/..." output:crd:dir="$out"/crds
}

install_output() {
	if ! diff -rq "$out" "$into" >/dev/null 2>&1; then
		rm -rf "$into"
		cp -R "$out" "$into"
	fi
}

# Runs functions side by side and fails when one of them does.
together() {
	local pids=() name pid
	for name in "$@"; do
		"$name" &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid"
	done
}

build_tools

from apis generated polychrome/v1alpha1 agentsandbox/v1alpha1 agentsandbox/v1beta1
deepcopy
together modelled_apply_configurations clients definitions
install_output

from examples/website examples/website/generated api/v1alpha1
deepcopy
together apply_configurations clients website_definition
install_output
