#!/bin/sh
# Makes a thumbnail of a picture: the work of one message. The name of the picture comes on standard
# input. A message may come more than once, so the result is written under another name first, and
# moved into place.
set -eu
picture=$(cat)
[ -e "$picture" ] || { echo "$picture is not there" >&2; exit 65; } # for good: nobody can help
mkdir -p thumbs
target=thumbs/$(basename "$picture")
head -c 8 "$picture" > "$target.$$" # as thumbnails go
mv "$target.$$" "$target"
