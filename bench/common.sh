# Sourced by the benchmark scripts: builds what is measured, and measures commands.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$HOME/.cache/seriatim-target}"

fail() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 3; }
[ -x /usr/bin/time ] || fail "GNU time is missing: apt-get install time"

build() {
    cargo build --release --quiet --locked -p seriatim-cli
    cargo build --release --quiet --locked -p seriatim-history --example split_numbers
    ours="$CARGO_TARGET_DIR/release/seriatim"
    limit="$CARGO_TARGET_DIR/release/examples/split_numbers"
}

# measure SECONDS COMMAND…: prints "wall-seconds peak-MB", or "- -" if the command fails or takes longer than SECONDS. Exit
# code 1 is an answer: the history is violated. The shell's clock has microseconds, GNU time's only hundredths.
measure() {
    local seconds=$1 report code=0 start end
    shift
    report=$(mktemp)
    start=$EPOCHREALTIME
    timeout "$seconds" /usr/bin/time -o "$report" -f '%M' "$@" >/dev/null 2>&1 || code=$?
    end=$EPOCHREALTIME
    if [ "$code" -le 1 ]; then
        awk -v start="$start" -v end="$end" 'END { printf "%.3f %d\n", end - start, $1 / 1024 }' "$report"
    else
        echo "- -"
    fi
    rm -f "$report"
}

# least A B: the smaller of two numbers; "-" is larger than any.
least() { awk -v a="$1" -v b="$2" 'BEGIN { print (a == "-") ? b : (b == "-" || a + 0 < b + 0) ? a : b }'; }
# ratio A B: A/B with two digits, or "-".
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { if (a == "-" || b == "-" || b == 0) print "-"; else printf "%.3f\n", a / b }'; }
