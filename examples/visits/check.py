"""Fails if a visit was not counted."""
import os
import sys

from count import connect

with connect() as connection, connection.cursor() as cursor:
    cursor.execute("SELECT visits FROM page WHERE id = 1")
    (counted,) = cursor.fetchone()
if counted != int(os.environ.get("VISITORS", "2")):
    sys.exit(f"{counted} visits were counted")
