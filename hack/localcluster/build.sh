#!/usr/bin/env bash
# Builds the binaries of the local cluster into the folder given as the argument. The first build compiles Kubernetes and
# takes minutes on a small machine, so it reports how far it has come.
set -euo pipefail

mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")"
export CGO_ENABLED=0 GOWORK=off

packages=(
  ./controlplane
  ./localcluster
  k8s.io/kubernetes/cmd/kubectl
  sigs.k8s.io/kwok/cmd/kwok
  sigs.k8s.io/agent-sandbox/cmd/agent-sandbox-controller
)

# kubectl version compares what client and server were stamped with, and fails when it finds nothing.
version=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
IFS=. read -r major minor _ <<<"${version#v}"
ldflags=(-s -w)
for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
  ldflags+=("-X $package.gitVersion=$version" "-X $package.gitMajor=$major" "-X $package.gitMinor=$minor")
done

log=$(mktemp)
report() {
  local total
  total=$(go list -deps "${packages[@]}" | sort -u | wc -l)
  # Its output goes nowhere: a sleep that outlives the script must not keep a pipe open.
  while sleep 15 >/dev/null 2>&1; do
    echo "localcluster: building for ${SECONDS}s, $(wc -l <"$log") of up to $total packages compiled"
  done
}
report &
reporter=$!
trap 'kill "$reporter" 2>/dev/null || true; rm -f "$log"' EXIT

# Flags that every build of this repository shares: with others, each package would be compiled once more.
if ! go build -v -trimpath -buildvcs=false -ldflags "${ldflags[*]}" -o "$out/" "${packages[@]}" 2>"$log"; then
  tail -n 40 "$log" >&2
  exit 1
fi

# The operator's definitions come with its source; they are kept beside the binary that needs them.
crds=$out/agent-sandbox-crds
rm -rf "$crds"
cp -r "$(go list -m -f '{{.Dir}}' sigs.k8s.io/agent-sandbox)/k8s/crds" "$crds"
chmod -R u+w "$crds"

# go build leaves alone what is up to date; make goes by the time.
for package in "${packages[@]}"; do touch "$out/${package##*/}"; done
echo "localcluster: built in ${SECONDS}s into $out"
