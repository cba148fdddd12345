#!/usr/bin/env bash
# One large history: 1M transactions with 50 operations each, 50 sessions, at all weak levels; needs 3 GB of disk.
#
#   bench/large.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
build
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
printf '| store | keys | levels | s | MB |\n|---|---|---|---|---|\n'
for level in ser cc; do
    "$ours" generate --level "$level" --sessions 50 --transactions 20000 --operations 50 --keys 1000000 \
        --distribution zipfian --seed 1 "$dir/history.txt"
    read -r seconds mb <<<"$(measure 900 "$ours" check --level rc,ci,ra,cc --quiet "$dir/history.txt")"
    printf '| %s | zipfian | all | %s | %s |\n' "$level" "$seconds" "$mb"
done
