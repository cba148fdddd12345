#!/usr/bin/env bash
# Explores random clients of five applications and prints the tables of the explorer's section in RESULTS.md.
# Usage: bench/explore.sh [programs|sessions|transactions]…   (programs by default)
#   BUDGET=30m   how long one exploration may take
#   SEEDS="1 2 3 4 5", APPS="cart twitter courseware wikipedia tpcc", THREADS=1, OURS=a program that is built already
#   PLOTS=a folder for cactus plots of "programs": explore-time.svg, explore-memory.svg, explore-states.svg
# "programs": 3 sessions of 3 transactions, for CC, RA+CC, RC+CC, true+CC, CC+SI, CC+SER and DFS(CC); time, memory, end states.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[ -n "${OURS:-}" ] || cargo build --release --quiet --locked -p seriatim-cli
ours=${OURS:-$CARGO_TARGET_DIR/release/seriatim}
budget=${BUDGET:-30m} seeds=${SEEDS:-1 2 3 4 5} apps=${APPS:-cart twitter courseware wikipedia tpcc} threads=${THREADS:-1}

# explore PROGRAM FLAGS…: one exploration as "seconds CPU-seconds MB histories end-states verdict share".
explore() {
    local report json
    report=$(mktemp)
    json=$(/usr/bin/time -o "$report" -f '%M %U %S' "$ours" explore "$@" --threads "$threads" --budget "$budget" --format json) || true
    printf '%s\n' "$json" | awk -v used="$(tail -1 "$report")" '
        function field(name) { match($0, "\"" name "\":\"?[^,\"]*"); v = substr($0, RSTART, RLENGTH); sub(/^.*:"?/, "", v); return v }
        {
            split(used, of, " ")
            printf "%.3f %.2f %.1f %s %s %s %.3g\n", field("time_ms") / 1000, of[2] + of[3], of[1] / 1024, field("histories"), field("end_states"), field("verdict"), field("share")
        }'
    rm -f "$report"
}

line() { # label, then the words of explore
    local label=$1 seconds=$2 cpu=$3 mb=$4 histories=$5 ends=$6 verdict=$7 share=$8
    local rate; rate=$(rate "$ends" "$seconds" "$cpu")
    [ "$verdict" = undecided ] && seconds="> $seconds (about $(awk -v s="$share" 'BEGIN { printf "%.2g", s * 100 }') % visited)"
    printf '| %s | %s | %s | %s | %s | %s | %s |\n' "$label" "$seconds" "$cpu" "$mb" "$histories" "$ends" "$rate"
}

# One line a program: CPU seconds for each pair of levels (> where the budget ended it), their end states, the rate at CC, and their memory.
programs() {
    local pairs="CC / RA+CC / RC+CC / true+CC / CC+SI / CC+SER / DFS(CC)"
    echo "| program | histories CC / SI / SER | ${pairs//\// |} | end states $pairs | CC histories/s | MB $pairs |"
    echo "|---|---|---|---|---|---|---|---|---|---|---|---|"
    local all=("--level cc" "--level cc --base ra" "--level cc --base rc" "--level cc --base true" "--level si" "--level ser" "--level cc --algorithm dfs")
    for app in $apps; do for seed in $seeds; do
        local times=() histories=() ends=() megabytes=() rate=0
        for number in "${!all[@]}"; do
            # shellcheck disable=SC2046,SC2086 # words
            set -- $(explore "$app:$seed" ${all[$number]})
            [ $# = 7 ] || fail "$app:$seed ${all[$number]} came to no result"
            local more=""
            [ "$6" = undecided ] && more="> "
            times+=("$more$2") histories+=("$more$4") ends+=("$more$5") megabytes+=("$more$3")
            [ "$number" = 0 ] && rate=$(rate "$5" "$1" "$2")
        done
        echo "| $app:$seed | ${histories[0]} / ${histories[4]} / ${histories[5]} | $(joined " | " "${times[@]}") | $(joined " / " "${ends[@]}") | $rate | $(joined " / " "${megabytes[@]}") |"
    done; done
}

joined() { # separator, words
    local separator=$1 text=$2
    shift 2
    printf '%s' "$text" "${@/#/$separator}"
}

# plots TABLE: what the programs took, as pictures.
plots() {
    mkdir -p "$PLOTS"
    for what in time memory states; do bench/cactus.sh "$what" "$1" >"$PLOTS/explore-$what.svg"; done
}

# rate COUNT SECONDS CPU-SECONDS: by CPU time where that has digits enough: the machine may have other work.
rate() { awk -v n="$1" -v s="$2" -v c="$3" 'BEGIN { t = (c >= 0.1) ? c : s; if (t > 0) printf "%.0f", n / t; else printf "-" }'; }

scale() { # sessions or transactions
    echo "| program | size | seconds | CPU s | MB | histories | end states | end states/s |"
    echo "|---|---|---|---|---|---|---|---|"
    for app in tpcc wikipedia; do for seed in $seeds; do for n in 1 2 3 4 5; do
        local size="${n}x3"; [ "$1" = transactions ] && size="3x$n"
        # shellcheck disable=SC2046 # the words are the fields
        line "$app:$seed | $size" $(explore "$app:$seed" --level cc --size "$size")
    done; done; done
}

for wanted in "${@:-programs}"; do
    echo "## $wanted ($(date -u +%F), budget $budget, $threads thread(s))"
    case $wanted in
    programs)
        table=$(mktemp)
        programs | tee "$table"
        [ -z "${PLOTS:-}" ] || plots "$table"
        rm -f "$table"
        ;;
    sessions | transactions) scale "$wanted" ;;
    *) fail "unknown table $wanted: programs, sessions or transactions" ;;
    esac
done
