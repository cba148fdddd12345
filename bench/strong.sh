#!/usr/bin/env bash
# Our checker at snapshot isolation and serializability, beside a peer's on the same files if there is one, and how time grows.
#
#   bench/strong.sh PEER_COMMAND|- DIR
#
# DIR holds histories: files of any format, or directories that are one history (Cobra, Viper logs). PEER_COMMAND is called as
# `PEER_COMMAND si|ser HISTORY` and must exit with 0 or 1; `-` measures us alone. Runs alternate, RUNS times (default 3); the
# least wall time and the least peak memory count. Then, with GROWTH=1, histories of `seriatim generate` (20 and 100 sessions,
# 8 operations a transaction, zipfian, 30, 50 and 95% reads, from a serializable store): as they are, with the transactions in
# the order of their commits, and with the sessions one after another, which says nothing about the order.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[ $# -eq 2 ] || fail "usage: bench/strong.sh PEER_COMMAND|- DIR"
peer=$1 dir=$2
[ -d "$dir" ] || fail "$dir is not a directory"
runs=${RUNS:-3}
build

# row NAME LEVEL HISTORY
row() {
    local ours_s=- ours_mb=- peer_s=- peer_mb=- seconds mb
    for _ in $(seq "$runs"); do
        read -r seconds mb <<<"$(measure 600 "$ours" check --level "$2" --quiet "$3")"
        ours_s=$(least "$ours_s" "$seconds") ours_mb=$(least "$ours_mb" "$mb")
        [ "$peer" = - ] && continue
        # shellcheck disable=SC2086
        read -r seconds mb <<<"$(measure "${PEER_SECONDS:-900}" $peer "$2" "$3")"
        peer_s=$(least "$peer_s" "$seconds") peer_mb=$(least "$peer_mb" "$mb")
    done
    printf '| %s | %s | %s | %s | %s | %s | %s | %s |\n' "$1" "$2" "$ours_s" "$ours_mb" "$peer_s" "$peer_mb" \
        "$(ratio "$ours_s" "$peer_s")" "$(ratio "$ours_mb" "$peer_mb")"
}

printf '| history | level | ours s | ours MB | peer s | peer MB | time ours/peer | memory ours/peer |\n'
printf '|---|---|---|---|---|---|---|---|\n'
for history in "$dir"/*; do
    name=$(basename "$history")
    inner=$(find "$history" -name '*.bincode' | head -1)
    [ "$name" = small ] && continue
    for level in si ser; do
        row "$name" "$level" "${inner:-$history}"
    done
done

[ -n "${GROWTH:-}" ] || exit 0
peer=-
work="${TMPDIR:-/tmp}/seriatim-bench-strong"
mkdir -p "$work"
for size in 10k:20:500:1000 100k:20:5000:10000 1m:20:50000:100000 100k-100s:100:1000:10000; do
    IFS=: read -r name sessions txns keys <<<"$size"
    for reads in 0.3 0.5 0.95; do
        file="$work/$name-$reads"
        [ -s "$file.txt" ] || "$ours" generate --level ser --sessions "$sessions" --transactions "$txns" --operations 8 \
            --keys "$keys" --reads "$reads" --distribution zipfian --seed 1 "$file.txt"
        [ -s "$file.bincode" ] || "$ours" convert "$file.txt" --to dbcop "$file.bincode" 2>/dev/null
        for level in si ser; do
            row "$name, $reads reads, in order" "$level" "$file.txt"
            row "$name, $reads reads, by session" "$level" "$file.bincode"
        done
    done
done
