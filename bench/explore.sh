#!/usr/bin/env bash
# Explores random clients of five applications and prints the tables of the explorer's section in RESULTS.md.
# Usage: bench/explore.sh [programs|sessions|transactions]…   (programs by default)
#   BUDGET=30m   how long one exploration may take
#   SEEDS="1 2 3 4 5", APPS="cart twitter courseware wikipedia tpcc", THREADS=1, OURS=a program that is built already
# "programs": 3 sessions of 3 transactions, for CC, RA+CC, RC+CC, true+CC, CC+SI, CC+SER and DFS(CC); time, memory, end states.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[ -n "${OURS:-}" ] || cargo build --release --quiet --locked -p seriatim
ours=${OURS:-$CARGO_TARGET_DIR/release/seriatim}
budget=${BUDGET:-30m} seeds=${SEEDS:-1 2 3 4 5} apps=${APPS:-cart twitter courseware wikipedia tpcc} threads=${THREADS:-1}

# explore PROGRAM FLAGS…: one exploration as "seconds MB histories end-states verdict share".
explore() {
    local report json
    report=$(mktemp)
    json=$(/usr/bin/time -o "$report" -f '%M' "$ours" explore "$@" --threads "$threads" --budget "$budget" --format json) || true
    printf '%s\n' "$json" | awk -v mb="$(tail -1 "$report")" '
        function field(name) { match($0, "\"" name "\":\"?[^,\"]*"); v = substr($0, RSTART, RLENGTH); sub(/^.*:"?/, "", v); return v }
        { printf "%.3f %.0f %s %s %s %.3g\n", field("time_ms") / 1000, mb / 1024, field("histories"), field("end_states"), field("verdict"), field("share") }'
    rm -f "$report"
}

line() { # label, then the words of explore
    local label=$1 seconds=$2 mb=$3 histories=$4 ends=$5 verdict=$6 share=$7
    local rate; rate=$(awk -v e="$ends" -v s="$seconds" 'BEGIN { printf "%.0f", (s > 0) ? e / s : 0 }')
    [ "$verdict" = undecided ] && seconds="> $seconds (about $(awk -v s="$share" 'BEGIN { printf "%.2g", s * 100 }') % visited)"
    printf '| %s | %s | %s | %s | %s | %s |\n' "$label" "$seconds" "$mb" "$histories" "$ends" "$rate"
}

programs() {
    echo "| program | levels | seconds | MB | histories | end states | end states/s |"
    echo "|---|---|---|---|---|---|---|"
    for app in $apps; do for seed in $seeds; do
        for flags in "CC:--level cc" "RA+CC:--level cc --base ra" "RC+CC:--level cc --base rc" "true+CC:--level cc --base true" \
            "CC+SI:--level si" "CC+SER:--level ser" "DFS(CC):--level cc --algorithm dfs"; do
            # shellcheck disable=SC2086 # flags are words
            line "$app:$seed | ${flags%%:*}" $(explore "$app:$seed" ${flags#*:})
        done
    done; done
}

scale() { # sessions or transactions
    echo "| program | size | seconds | MB | histories | end states | end states/s |"
    echo "|---|---|---|---|---|---|---|"
    for app in tpcc wikipedia; do for seed in $seeds; do for n in 1 2 3 4 5; do
        local size="${n}x3"; [ "$1" = transactions ] && size="3x$n"
        # shellcheck disable=SC2046 # the words are the fields
        line "$app:$seed | $size" $(explore "$app:$seed" --level cc --size "$size")
    done; done; done
}

for table in "${@:-programs}"; do
    echo "## $table ($(date -u +%F), budget $budget, $threads thread(s))"
    case $table in
    programs) programs ;;
    sessions | transactions) scale "$table" ;;
    *) fail "unknown table $table: programs, sessions or transactions" ;;
    esac
done
