#!/bin/sh
# Writes the bill of materials of a program: bom.sh VERSION PROGRAM DOCUMENT
#
# The program is built with the other modules of this repository at their folders, "../..", which
# is what it says of itself: see module.sh. They are released together, so VERSION is theirs, too.
set -eu
cyclonedx-gomod bin -json -std -noserial -notimestamp -version "$1" -output "$3" "$2"
sed -e 's,\.\./\.\.,github.com/bravellian/pawl,g' -e "s,(devel),$1,g" "$3" > "$3.named"
mv "$3.named" "$3"
