#!/usr/bin/env bash
# Our checker beside a peer's, on the same files, and beside merely reading the file and splitting it into numbers.
#
#   bench/weak.sh PEER_BINARY [DIR]
#
# PEER_BINARY is called as `PEER check -i read-committed|read-atomic|causal $PEER_OPTIONS FILE`, as AWDIT wants it; `-` measures
# us alone. DIR holds register text files (*.txt); without it they are generated: 1M and 10M operations, 50 sessions, uniform
# and zipfian, from a serializable and from a causal store. PEER_SECONDS limits one run of the peer (default 900).
# Runs alternate, RUNS times (default 3); the least wall time and the least peak memory count. LEVELS (default "rc ra cc") says which
# levels to measure.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[ $# -ge 1 ] && [ $# -le 2 ] || fail "usage: bench/weak.sh PEER_BINARY|- [DIR]"
peer=$1
[ "$peer" = - ] || [ -x "$peer" ] || fail "$peer is not an executable file"
runs=${RUNS:-3}
peer_seconds=${PEER_SECONDS:-900}
build

generate() {
    for size in 1m:2000:10000 10m:20000:100000; do
        IFS=: read -r name txns keys <<<"$size"
        for level in ser cc; do
            for keys_choice in uniform zipfian; do
                file="$dir/$level-$keys_choice-$name.txt"
                [ -s "$file" ] || "$ours" generate --level "$level" --sessions 50 --transactions "$txns" --operations 10 \
                    --keys "$keys" --distribution "$keys_choice" --seed 1 "$file"
            done
        done
    done
}

if [ $# -eq 2 ]; then
    dir=$2
else
    dir="${TMPDIR:-/tmp}/seriatim-bench-weak"
    mkdir -p "$dir"
    generate
fi

printf '| file | level | ours s | ours MB | peer s | peer MB | time ours/peer | memory ours/peer | limit s | ours/limit |\n'
printf '|---|---|---|---|---|---|---|---|---|---|\n'
for file in "$dir"/*.txt; do
    cat "$file" >/dev/null
    limit_s=-
    for _ in $(seq "$runs"); do
        read -r seconds _ <<<"$(measure 600 "$limit" "$file")"
        limit_s=$(least "$limit_s" "$seconds")
    done
    for level in rc:read-committed ra:read-atomic cc:causal; do
        IFS=: read -r code name <<<"$level"
        [[ " ${LEVELS:-rc ra cc} " == *" $code "* ]] || continue
        ours_s=- ours_mb=- peer_s=- peer_mb=-
        for _ in $(seq "$runs"); do
            read -r seconds mb <<<"$(measure 600 "$ours" check --level "$code" --quiet "$file")"
            ours_s=$(least "$ours_s" "$seconds") ours_mb=$(least "$ours_mb" "$mb")
            [ "$peer" = - ] && continue
            # shellcheck disable=SC2086
            read -r seconds mb <<<"$(measure "$peer_seconds" "$peer" check -i "$name" ${PEER_OPTIONS:-} "$file")"
            peer_s=$(least "$peer_s" "$seconds") peer_mb=$(least "$peer_mb" "$mb")
        done
        printf '| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n' "$(basename "$file")" "$code" "$ours_s" "$ours_mb" \
            "$peer_s" "$peer_mb" "$(ratio "$ours_s" "$peer_s")" "$(ratio "$ours_mb" "$peer_mb")" "$limit_s" \
            "$(ratio "$ours_s" "$limit_s")"
    done
done
