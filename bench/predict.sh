#!/usr/bin/env bash
# Prediction: the time of each strategy on traces, the tables of the IsoPredict paper with our applications, and a long run.
#
#   bench/predict.sh [TRACES [PEER_COMMAND]]
#
# TRACES is a directory of runs (searched for *.txt); without it only what needs no traces is printed. PEER_COMMAND, if it is given, is
# called as `PEER_COMMAND FILE LEVEL STRATEGY` (LEVEL cc or rc; STRATEGY exact-strict, approx-strict or approx-relaxed) and timed beside us;
# PEER_SECONDS limits one run of it (default 900). Our times are those of one process a run, the least of RUNS (default 3).
# TABLES (default "tables45 future tables67") says which tables to print; with `validation` among them, SEEDS (as in 601-660) says over
# which seeds to count what validates. BUILT is a directory with `seriatim` and `predict_tables` if they are built already.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[ $# -le 2 ] || fail "usage: bench/predict.sh [TRACES [PEER_COMMAND]]"
traces=${1:-}
peer=${2:-}
runs=${RUNS:-3}
peer_seconds=${PEER_SECONDS:-900}
if [ -n "${BUILT:-}" ]; then
    ours="$BUILT/seriatim" tables="$BUILT/predict_tables"
else
    cargo build --release --quiet --locked -p seriatim-cli
    cargo build --release --quiet --locked -p seriatim --example predict_tables
    ours="$CARGO_TARGET_DIR/release/seriatim" tables="$CARGO_TARGET_DIR/release/examples/predict_tables"
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# answer COMMAND…: what `predict` answers.
answer() { { "$@" --format json 2>/dev/null || true; } | sed -n 's/.*"answer":"\([a-z-]*\)".*/\1/p'; }

# best COMMAND…: the least wall time of several runs.
best() {
    local wall=- time
    for _ in $(seq "$runs"); do
        read -r time _ < <(measure 600 "$@")
        wall=$(least "$wall" "$time")
    done
    echo "$wall"
}

if [ -n "$traces" ]; then
    [ -d "$traces" ] || fail "$traces is not a directory"
    echo "| trace | level | strategy | answer | s |${peer:+ peer s | ours/peer |}"
    echo "|---|---|---|---|---|${peer:+---|---|}"
    find "$traces" -name '*.txt' | sort | while read -r file; do
        for level in cc rc; do
            for strategy in exact-strict approx-strict approx-relaxed exact-relaxed; do
                command=("$ours" predict "$file" --level "$level" --mode "${strategy%-*}" --boundary "${strategy#*-}")
                wall=$(best "${command[@]}")
                line="| ${file#"$traces"/} | $level | $strategy | $(answer "${command[@]}") | $wall |"
                if [ -n "$peer" ] && [ "$strategy" != exact-relaxed ]; then
                    read -r theirs _ < <(measure "$peer_seconds" "$peer" "$file" "$level" "$strategy")
                    line="$line $theirs | $(ratio "$wall" "$theirs") |"
                elif [ -n "$peer" ]; then
                    line="$line - | - |"
                fi
                echo "$line"
            done
        done
    done
fi

for table in ${TABLES:-tables45 future tables67}; do
    "$tables" "$table"
done

echo
echo "SmallBank, 10 sessions of 100 transactions:"
"$ours" observe smallbank --sessions 10 --transactions 100 --output "$scratch/long.jsonl"
echo "| level | strategy | answer | s |"
echo "|---|---|---|---|"
for level in rc ra cc pc si; do
    for strategy in exact-strict approx-relaxed exact-relaxed; do
        command=("$ours" predict "$scratch/long.jsonl" --level "$level" --mode "${strategy%-*}" --boundary "${strategy#*-}")
        echo "| $level | $strategy | $(answer "${command[@]}") | $(best "${command[@]}") |"
    done
done
