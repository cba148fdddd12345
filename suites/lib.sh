# What the scripts of this folder share: where downloads are kept, and how they get there.
# Sourced, never run.

suites=$(cd "$(dirname "$0")" && pwd)
cache="${XDG_CACHE_HOME:-$HOME/.cache}/seriatim-suites"
venv="$cache/venv"
python="$venv/bin/python"

say() { printf '== %s\n' "$*" >&2; }
# Something is missing that cannot be fetched or may not be installed here; callers may skip what
# needs it.
cannot() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 3; }
fail() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 2; }
has() { command -v "$1" >/dev/null 2>&1; }

# Installs Debian packages where that is allowed; otherwise says what is missing.
install() {
    has apt-get || cannot "please install: $*"
    if [ "$(id -u)" -eq 0 ]; then sudo=""; elif has sudo && sudo -n true 2>/dev/null; then
        sudo="sudo -n"
    else
        cannot "please install (as root): apt-get install $*"
    fi
    $sudo apt-get update -q >&2 || cannot "apt-get update failed; please install: $*"
    DEBIAN_FRONTEND=noninteractive $sudo apt-get install -qy "$@" >&2 || cannot "please install: $*"
}

# Where Debian keeps pgbench: beside the server that it belongs to.
pgbench_folder() { ls -d /usr/lib/postgresql/*/bin/pgbench 2>/dev/null | tail -n 1 | xargs -r dirname; }

jar=/usr/share/java/postgresql.jar

# The Debian packages that clients need, as far as they are missing, in one go.
need_packages() {
    missing=""
    has psql || missing="$missing postgresql-client"
    for client in "$@"; do
        case $client in
            psql) ;;
            pgbench) has pgbench || [ -n "$(pgbench_folder)" ] ||
                missing="$missing postgresql-contrib" ;;
            psycopg | sqlalchemy | django)
                has python3 || missing="$missing python3"
                python3 -c 'import ensurepip' 2>/dev/null || missing="$missing python3-venv" ;;
            jdbc)
                has javac || missing="$missing default-jdk-headless"
                [ -f "$jar" ] || missing="$missing libpostgresql-jdbc-java" ;;
            node) has npm || missing="$missing nodejs npm" ;;
            openssl) has openssl || missing="$missing openssl" ;;
            *) fail "no client is called $client" ;;
        esac
    done
    # shellcheck disable=SC2086 # packages are words
    [ -z "$missing" ] || install $missing
}

# django-oscar with what it needs, of examples/oscar, in an environment of its own.
need_oscar() {
    wanted="$suites/../examples/oscar/requirements.txt"
    if cmp -s "$wanted" "$cache/oscar/requirements.txt"; then return; fi
    say "installing django-oscar into $cache/oscar"
    rm -rf "$cache/oscar"
    python3 -m venv "$cache/oscar" ||
        cannot "cannot make a Python environment in $cache/oscar"
    "$cache/oscar/bin/pip" install -q --disable-pip-version-check -r "$wanted" >&2 ||
        cannot "cannot install the packages of examples/oscar/requirements.txt"
    cp "$wanted" "$cache/oscar/requirements.txt"
}

need_node() {
    if cmp -s "$suites/package.json" "$cache/node/installed.json"; then return; fi
    say "installing node-postgres into $cache/node"
    rm -rf "$cache/node" && mkdir -p "$cache/node"
    cp "$suites/package.json" "$cache/node/package.json"
    npm install --silent --no-audit --no-fund --prefix "$cache/node" >&2 ||
        cannot "cannot install the packages of package.json"
    cp "$suites/package.json" "$cache/node/installed.json"
}

# The version that requirements.txt pins for a package.
pinned() { sed -n "s/^$1\(\[.*\]\)\{0,1\}==//p" "$suites/requirements.txt"; }

# The Python packages of requirements.txt, in an environment outside of the clone. It is made
# again when the list has changed.
need_python() {
    need_packages django
    if cmp -s "$suites/requirements.txt" "$venv/requirements.txt"; then return; fi
    say "installing Python packages into $venv"
    rm -rf "$venv"
    python3 -m venv "$venv" ||
        cannot "cannot make a Python environment in $venv"
    "$venv/bin/pip" install -q --disable-pip-version-check -r "$suites/requirements.txt" >&2 ||
        cannot "cannot install the packages of requirements.txt"
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
        -d "$cache/download" "$2==$(pinned "$2")" >&2 || cannot "cannot fetch the source of $2"
    tar xzf "$cache/download"/*.tar.gz -C "$cache/download"
    mv "$cache/download"/*/ "$source"
    rm -rf "$cache/download"
}
