#!/usr/bin/env bash
# Draws the table that `bench/explore.sh programs` prints as a cactus plot: for each pair of levels how many programs were explored within
# how many CPU seconds each. Usage: bench/cactus.sh TABLE >PLOT.svg
set -euo pipefail
[ $# = 1 ] || { echo "usage: $0 TABLE >PLOT.svg" >&2; exit 3; }
awk -F'|' '
    function x(count) { return 60 + count * 640 / programs }
    function y(seconds) { s = seconds < 0.01 ? 0.01 : seconds; return 360 - (log(s) / log(10) + 2) * 320 / 4 }
    function trim(text) { gsub(/^ +| +$/, "", text); return text }
    $2 ~ /:[0-9]+ *$/ {
        programs++
        for (column = 4; column <= 10; column++) if (trim($column) !~ /^>/) times[column, ++solved[column]] = trim($column) + 0
    }
    END {
        if (!programs) { print "no programs in the table" > "/dev/stderr"; exit 3 }
        split("CC,RA+CC,RC+CC,true+CC,CC+SI,CC+SER,DFS(CC)", name, ",")
        split("#1b7837,#2166ac,#762a83,#b35806,#5aae61,#a6dba0,#b2182b", colour, ",")
        print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"860\" height=\"420\" font-family=\"sans-serif\" font-size=\"12\">"
        print "<rect width=\"860\" height=\"420\" fill=\"white\"/>"
        for (power = -2; power <= 2; power++) {
            printf "<path d=\"M60 %d H700\" stroke=\"#ddd\"/><text x=\"52\" y=\"%d\" text-anchor=\"end\">%g</text>\n", y(10 ^ power), y(10 ^ power) + 4, 10 ^ power
        }
        for (count = 0; count <= programs; count += 5) printf "<text x=\"%d\" y=\"378\" text-anchor=\"middle\">%d</text>\n", x(count), count
        print "<text x=\"380\" y=\"400\" text-anchor=\"middle\">programs explored</text><text x=\"12\" y=\"24\">CPU seconds</text>"
        for (column = 4; column <= 10; column++) {
            n = solved[column]
            for (i = 2; i <= n; i++) for (j = i; j > 1 && times[column, j] < times[column, j - 1]; j--) {
                swap = times[column, j]; times[column, j] = times[column, j - 1]; times[column, j - 1] = swap
            }
            path = ""
            for (i = 1; i <= n; i++) path = path (i == 1 ? "M" : " L") sprintf("%.1f %.1f", x(i), y(times[column, i]))
            printf "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", path, colour[column - 3]
            printf "<path d=\"M715 %d h20\" stroke=\"%s\" stroke-width=\"2\"/><text x=\"740\" y=\"%d\">%s (%d)</text>\n", 40 + (column - 3) * 20, colour[column - 3], 44 + (column - 3) * 20, name[column - 3], n
        }
        print "</svg>"
    }' "$1"
