#!/bin/sh
# Runs `promenade` with the arguments given. A variable PROMENADE_<OPTION>_FILE names a file that holds the value of
# PROMENADE_<OPTION>: secrets come as files, and neither the image nor the composition holds them.
set -eu

for variable in $(env | sed -n 's/^\(PROMENADE_[A-Z_]*\)_FILE=.*/\1/p'); do
  eval "file=\${${variable}_FILE}"
  if [ ! -r "$file" ]; then
    echo "promenade: ${variable}_FILE names $file, which cannot be read." >&2
    exit 2
  fi
  export "$variable=$(cat "$file")"
  unset "${variable}_FILE"
done

exec promenade "$@"
