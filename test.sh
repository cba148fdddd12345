#!/bin/sh
# Sets up what the tests need, then runs all of them: format, lints, tests, clients and suites
# of others, doctests, documentation; what measures and what fuzzes must compile.
set -eu
cd "$(dirname "$0")"

# Build output stays outside of the clone.
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$HOME/.cache/seriatim-target}"
export PATH="$PATH:${CARGO_HOME:-$HOME/.cargo}/bin"

# A change is judged by the same random cases wherever it is judged. Unset it, and raise
# PROPTEST_CASES, to look for new ones (CONTRIBUTING.md).
export PROPTEST_RNG_SEED="${PROPTEST_RNG_SEED-20261117}"

say() { printf '\n== %s\n' "$*"; }
fail() { printf 'test.sh: %s\n' "$*" >&2; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }

# Installs Debian packages where that is allowed; otherwise says what is missing.
install() {
    has apt-get || fail "please install: $*"
    if [ "$(id -u)" -eq 0 ]; then sudo=""; elif has sudo; then sudo="sudo -n"; else fail "please install (as root): apt-get install $*"; fi
    $sudo apt-get update -q >&2 || fail "apt-get update failed; please install: $*"
    DEBIAN_FRONTEND=noninteractive $sudo apt-get install -qy "$@" >&2 || fail "please install: $*"
}

# The version of Rust that the workspace asks for, as a number: 1.90 is 190.
wanted() { sed -n 's/^rust-version = "1\.\([0-9]*\).*"/1\1/p' Cargo.toml; }
found() { rustc --version 2>/dev/null | sed -n 's/^rustc 1\.\([0-9]*\)\..*/1\1/p'; }

install_rust() {
    say "installing Rust with rustup"
    curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal -c rustfmt -c clippy ||
        fail "please install Rust 1.$(wanted | cut -c2-) or newer from https://rustup.rs"
    PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
}

has cc || install gcc libc6-dev
# The fuzzer that the targets of fuzz/ are linked with is C++.
has c++ || install g++
# The examples of docs/http.md use it.
has curl || install curl ca-certificates
# Tests of commands of a user run it.
has psql || install postgresql-client
# Tests of pages look at them in a browser.
if ! has chromium || ! has chromedriver; then install chromium chromium-driver; fi
if ! has cargo || [ "$(found)" -lt "$(wanted)" ]; then install_rust; fi
[ "$(found)" -ge "$(wanted)" ] || fail "$(rustc --version) is too old: Rust 1.$(wanted | cut -c2-) or newer is needed"
cargo fmt --version >/dev/null 2>&1 || fail "rustfmt is missing: rustup component add rustfmt"
cargo clippy --version >/dev/null 2>&1 || fail "clippy is missing: rustup component add clippy"
if ! cargo nextest --version >/dev/null 2>&1; then
    say "installing cargo-nextest"
    cargo install cargo-nextest --locked
fi

say "format"
cargo fmt --all --check
say "lints"
cargo clippy --workspace --all-targets --all-features --locked -- -D warnings
say "tests"
# One run names all that fail.
cargo nextest run --workspace --all-features --locked --no-fail-fast
# Tests on a collection of histories that is not part of the clone.
collection() { cargo nextest "$@" --workspace --all-features --locked --run-ignored only -E 'binary(shared_histories)'; }
if [ -d ../shared/histories ]; then
    say "tests on the collection of histories beside the clone"
    collection run
else
    say "skipped: $(collection list --message-format oneline 2>/dev/null | wc -l) tests need a collection of histories at ../shared/histories"
fi
# What others wrote for PostgreSQL, against the program that was just built.
suites/setup.sh && status=0 || status=$?
case $status in
    0)
        say "clients and suites of others"
        SERIATIM="$CARGO_TARGET_DIR/debug/seriatim" suites/ci.sh
        say "examples"
        SERIATIM="$CARGO_TARGET_DIR/debug/seriatim" examples/ci.sh ;;
    3) say "skipped: $(suites/ci.sh --count) tests with clients and suites of others, and 17 with examples, see above" ;;
    *) fail "suites/setup.sh has failed" ;;
esac
# Audits of real databases, which are started for them.
suites/databases/setup.sh && status=0 || status=$?
case $status in
    0)
        say "real databases"
        suites/databases/ci.sh ;;
    3)
        # Where everything is judged nothing is left out.
        [ -z "${CI:-}" ] || fail "in CI the databases of suites/databases/setup.sh must be there"
        say "skipped: $(suites/databases/ci.sh --count) tests with real databases, see above" ;;
    *) fail "suites/databases/setup.sh has failed" ;;
esac
say "tests of the slim library, without its features"
cargo check -p seriatim --all-targets --locked
cargo nextest run -p seriatim-history -p seriatim-store --lib --test bad_inputs --test behaviour --locked
# Workspaces of their own, whose code follows that of the crates.
for other in bench fuzz; do
    say "$other compiles"
    RUSTFLAGS="-D warnings" cargo check --manifest-path "$other/Cargo.toml" --all-targets --locked \
        --target-dir "$CARGO_TARGET_DIR/$other"
done
say "doctests"
cargo test --workspace --all-features --doc --locked --quiet
say "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --all-features --no-deps --locked --quiet
say "all good"
