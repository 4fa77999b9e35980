#!/bin/sh
# Writes the go.mod that the program of a release is built with: module.sh FILE.mod
#
# It is that of cmd/pawl, with the modules of this repository at the folders where they lie. The
# workspace would build with the newest version of anything that any module needs, tests and
# benchmarks included; go install builds with those of this file.
set -eu
mkdir -p "$(dirname "$1")"
cp cmd/pawl/go.mod "$1"
cp cmd/pawl/go.sum "${1%.mod}.sum"
module=github.com/bravellian/pawl
GOWORK=off go mod edit -replace="$module=../.." "$1"
for folder in $(sed -n "s,^	$module/\\([a-z/]*\\) v.*,\\1,p" cmd/pawl/go.mod); do
	GOWORK=off go mod edit -replace="$module/$folder=../../$folder" "$1"
done
