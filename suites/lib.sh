# What the scripts of this folder share: where downloads are kept, and how they get there.
# Sourced, never run.

suites=$(cd "$(dirname "$0")" && pwd)
cache="${XDG_CACHE_HOME:-$HOME/.cache}/seriatim-suites"
venv="$cache/venv"
python="$venv/bin/python"

say() { printf '== %s\n' "$*" >&2; }
fail() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 2; }
has() { command -v "$1" >/dev/null 2>&1; }

# Installs Debian packages where that is allowed; otherwise says what is missing.
install() {
    has apt-get || fail "please install: $*"
    if [ "$(id -u)" -eq 0 ]; then sudo=""; elif has sudo; then sudo="sudo -n"; else
        fail "please install (as root): apt-get install $*"
    fi
    $sudo apt-get update -q >&2 || fail "apt-get update failed; please install: $*"
    DEBIAN_FRONTEND=noninteractive $sudo apt-get install -qy "$@" >&2 || fail "please install: $*"
}

# The version that requirements.txt pins for a package.
pinned() { sed -n "s/^$1\(\[.*\]\)\{0,1\}==//p" "$suites/requirements.txt"; }

# The Python packages of requirements.txt, in an environment outside of the clone. It is made
# again when the list has changed.
need_python() {
    has python3 || install python3 python3-venv
    if cmp -s "$suites/requirements.txt" "$venv/requirements.txt"; then return; fi
    say "installing Python packages into $venv"
    rm -rf "$venv"
    python3 -m venv "$venv" 2>/dev/null || { install python3-venv && python3 -m venv "$venv"; } ||
        fail "cannot make a Python environment in $venv"
    "$venv/bin/pip" install -q --disable-pip-version-check -r "$suites/requirements.txt" >&2 ||
        fail "cannot install the packages of requirements.txt"
    cp "$suites/requirements.txt" "$venv/requirements.txt"
}

# The source package of a Python package, unpacked; $source is its folder.
need_source() {
    need_python
    source="$cache/$1-$(pinned "$2")"
    if [ -d "$source" ]; then return; fi
    say "fetching the source package of $2"
    rm -rf "$cache/download" && mkdir -p "$cache/download"
    "$venv/bin/pip" download -q --disable-pip-version-check --no-binary :all: --no-deps \
        -d "$cache/download" "$2==$(pinned "$2")" >&2 || fail "cannot fetch the source of $2"
    tar xzf "$cache/download"/*.tar.gz -C "$cache/download"
    mv "$cache/download"/*/ "$source"
    rm -rf "$cache/download"
}
