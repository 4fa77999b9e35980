#!/bin/sh
# Writes completions and man pages for archives and packages: generate.sh VERSION REVISION
set -eu
rm -rf build/completions build/man build/man-gz
mkdir -p build/bin build/completions build/man-gz
sh tools/release/module.sh build/pawl.mod
# The flags of .goreleaser.yaml, so that most of what is compiled here is needed there.
CGO_ENABLED=0 GOWORK=off go build -C cmd/pawl -trimpath -buildvcs=false -modfile=../../build/pawl.mod \
	-ldflags "-s -w -X main.releaseVersion=$1 -X main.releaseRevision=$2" -o ../../build/bin/pawl .
build/bin/pawl completion bash >build/completions/pawl.bash
build/bin/pawl completion zsh >build/completions/_pawl
build/bin/pawl completion fish >build/completions/pawl.fish
build/bin/pawl man build/man
for page in build/man/*.1; do
	gzip -9nc "$page" >"build/man-gz/${page##*/}.gz"
done
