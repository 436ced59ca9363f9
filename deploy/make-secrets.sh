#!/bin/sh
# Makes the secrets of compose.yaml in deploy/secrets, or in the directory given: passwords by chance, and the addresses
# of the database that hold them. What is there already stays as it is.
set -eu
umask 077

directory=${1:-$(dirname "$0")/secrets}
mkdir -p "$directory"
cd "$directory"

chance() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }
keep() { [ -s "$1" ] || printf '%s' "$2" >"$1"; }

for name in superuser_password owner_password serving_password metrics_token; do
  keep "$name" "$(chance)"
done
keep owner_url "postgresql://promenade_owner:$(cat owner_password)@database:5432/promenade"
keep serving_url "postgresql://promenade:$(cat serving_password)@database:5432/promenade"

# The containers read them as users of their own; who else may enter the directory is said by its own mode.
chmod 0644 superuser_password owner_password serving_password owner_url serving_url metrics_token
