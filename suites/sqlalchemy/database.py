"""Makes the empty database that SQLAlchemy's suite expects, and prints its URL for SQLAlchemy."""

import sys

import psycopg
from sqlalchemy import make_url

NAME = "seriatim_sqlalchemy"

# What README.unittests.rst of SQLAlchemy asks for, as far as its suite for dialects needs it.
SCHEMAS = ("test_schema", "test_schema_2")


def main(url):
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f"DROP DATABASE IF EXISTS {NAME}")
        server.execute(f"CREATE DATABASE {NAME}")
    made = make_url(url).set(database=NAME)
    with psycopg.connect(made.render_as_string(hide_password=False), autocommit=True) as database:
        for schema in SCHEMAS:
            database.execute(f"CREATE SCHEMA {schema}")
    made = made.set(drivername="postgresql+psycopg")
    print(made.render_as_string(hide_password=False))


main(sys.argv[1])
