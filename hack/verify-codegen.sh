#!/usr/bin/env bash
# Fails when the generated files are not what hack/update-codegen.sh makes of the
# API types now. It regenerates into a copy outside the tree and compares the two
# recursively, so that a missing or a left-over file counts too.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
copy="$(mktemp -d)"
trap 'rm -rf "$copy"' EXIT

inputs=(go.mod go.sum apis generated examples/website hack/boilerplate.go.txt hack/modelschema hack/tools hack/update-codegen.sh)
(cd "$root" && tar -cf - "${inputs[@]}") | tar -xf - -C "$copy"

"$copy/hack/update-codegen.sh"

outdated=0
for dir in apis generated examples/website; do
	diff -Naur "$root/$dir" "$copy/$dir" || outdated=1
done
if ((outdated)); then
	echo 'The generated files are out of date: run hack/update-codegen.sh (make generate).' >&2
	exit 1
fi
