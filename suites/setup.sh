#!/bin/sh
# Everything that ci.sh needs, and the one of examples/, installed at once: Debian packages, Python
# packages, sources of the suites, node-postgres, django-oscar. Ends with status 3, and says what is
# missing, where that is not allowed.
set -eu
. "$(dirname "$0")/lib.sh"
need_packages psql pgbench psycopg sqlalchemy django jdbc node openssl
need_python
need_source sqlalchemy SQLAlchemy
need_source django Django
need_node
need_oscar
say "everything is there"
