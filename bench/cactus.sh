#!/usr/bin/env bash
# Draws the table that `bench/explore.sh programs` prints as a cactus plot: for each pair of levels how many programs were explored within
# how much of something each. Programs that the budget ended are left out.
# Usage: bench/cactus.sh time|memory|states TABLE >PLOT.svg
set -euo pipefail
usage() { echo "usage: $0 time|memory|states TABLE >PLOT.svg" >&2; exit 3; }
[ $# = 2 ] || usage
case $1 in
time) label="CPU seconds" least=0.01 ;;
memory) label="MB at most" least=1 ;;
states) label="end states" least=1 ;;
*) usage ;;
esac
awk -F'|' -v what="$1" -v label="$label" -v least="$least" '
    function log10(value) { return log(value) / log(10) }
    # The next whole number; logarithms of powers of ten are a little off.
    function ceiling(value) { value -= 1e-9; return int(value) + (value > 0) }
    function x(count) { return 60 + count * 640 / programs }
    function y(value) { return 360 - (log10(value < least ? least : value) - low) * 320 / (high - low) }
    function trim(text) { gsub(/^ +| +$/, "", text); return text }
    # The value of a pair of levels: a column of its own, or one of seven in a column.
    function cell(series) {
        if (what == "time") return trim($(3 + series))
        split($(what == "memory" ? 13 : 11), of, "/")
        return trim(of[series])
    }
    $2 ~ /:[0-9]+ *$/ {
        programs++
        for (series = 1; series <= 7; series++) {
            value = cell(series)
            if (value == "" || value ~ /^>/) continue
            values[series, ++solved[series]] = value + 0
            if (value + 0 > most) most = value + 0
        }
    }
    END {
        if (!programs) { print "no programs in the table" > "/dev/stderr"; exit 3 }
        low = ceiling(log10(least)); high = ceiling(log10(most > least ? most : least))
        if (high <= low) high = low + 1
        split("CC,RA+CC,RC+CC,true+CC,CC+SI,CC+SER,DFS(CC)", name, ",")
        split("#1b7837,#2166ac,#762a83,#b35806,#5aae61,#a6dba0,#b2182b", colour, ",")
        print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"860\" height=\"420\" font-family=\"sans-serif\" font-size=\"12\">"
        print "<rect width=\"860\" height=\"420\" fill=\"white\"/>"
        for (power = low; power <= high; power++) {
            printf "<path d=\"M60 %d H700\" stroke=\"#ddd\"/><text x=\"52\" y=\"%d\" text-anchor=\"end\">%.10g</text>\n", y(10 ^ power), y(10 ^ power) + 4, 10 ^ power
        }
        for (count = 0; count <= programs; count += 5) printf "<text x=\"%d\" y=\"378\" text-anchor=\"middle\">%d</text>\n", x(count), count
        printf "<text x=\"380\" y=\"400\" text-anchor=\"middle\">programs explored</text><text x=\"12\" y=\"24\">%s</text>\n", label
        for (series = 1; series <= 7; series++) {
            n = solved[series]
            for (i = 2; i <= n; i++) for (j = i; j > 1 && values[series, j] < values[series, j - 1]; j--) {
                swap = values[series, j]; values[series, j] = values[series, j - 1]; values[series, j - 1] = swap
            }
            path = ""
            for (i = 1; i <= n; i++) path = path (i == 1 ? "M" : " L") sprintf("%.1f %.1f", x(i), y(values[series, i]))
            # A single program is a dot.
            if (n) printf "<path d=\"%s h0.1\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-linecap=\"round\"/>\n", path, colour[series]
            printf "<path d=\"M715 %d h20\" stroke=\"%s\" stroke-width=\"2\"/><text x=\"740\" y=\"%d\">%s (%d)</text>\n", 40 + series * 20, colour[series], 44 + series * 20, name[series], n
        }
        print "</svg>"
    }' "$2"
