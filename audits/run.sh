#!/bin/sh
# Audits embedded databases and prints the matrix of all: which levels each was seen to violate,
# beside what it promises. RocksDB and DuckDB are loaded as libraries and skipped where they are
# not found (librocksdb-dev; SERIATIM_ROCKSDB, SERIATIM_DUCKDB name their files).
#
#     audits/run.sh                              all of them, ten seconds each
#     SECONDS_EACH=60 SEED=7 RECORDINGS=. audits/run.sh fjall surrealkv
#
# Ends with 1 if a promise was broken; the recording is kept.
set -eu
cd "$(dirname "$0")"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$HOME/.cache/seriatim-target}/audits"
cargo build --quiet --locked
exec "$CARGO_TARGET_DIR/debug/seriatim-audits" "$@"
