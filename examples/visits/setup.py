"""Makes the tables."""
from pathlib import Path

from count import connect

with connect() as connection, connection.cursor() as cursor:
    for statement in Path(__file__).with_name("tables.sql").read_text().split(";"):
        if statement.strip():
            cursor.execute(statement)
    connection.commit()
