#!/bin/sh
# Builds all files of a release without publishing them. GoReleaser reads the commit, its tag and
# where it came from; what is not there is made up, in build and for this run alone.
set -eu
if ! git rev-parse --quiet --verify HEAD >/dev/null 2>&1; then # unpacked from an archive
	rm -rf build/git
	export GIT_DIR="$PWD/build/git" GIT_WORK_TREE="$PWD"
	git init --quiet
	git add --all
	git -c user.name=pawl -c user.email=pawl@localhost commit --quiet --no-verify --message snapshot
fi
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=remote.origin.url GIT_CONFIG_VALUE_0=https://github.com/bravellian/pawl
# Each module has a tag of its own; a release is that of the library.
GORELEASER_CURRENT_TAG=$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null || echo v0.0.0)
export GORELEASER_CURRENT_TAG
exec goreleaser release --snapshot --clean --skip=publish,docker --parallelism 2
