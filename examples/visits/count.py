"""Counts a visit of a page: what is there is read, one more is written."""
import os

import pymysql


def connect():
    return pymysql.connect(
        host=os.environ["MYSQL_HOST"],
        port=int(os.environ["MYSQL_TCP_PORT"]),
        user=os.environ["MYSQL_USER"],
        password=os.environ["MYSQL_PASSWORD"],
        database=os.environ["MYSQL_DATABASE"],
    )


def visit(connection, guard):
    with connection.cursor() as cursor:
        if guard == "atomic":
            cursor.execute("UPDATE page SET visits = visits + 1 WHERE id = %s", (1,))
        else:
            lock = " FOR UPDATE" if guard == "lock" else ""
            cursor.execute(f"SELECT visits FROM page WHERE id = %s{lock}", (1,))
            (visits,) = cursor.fetchone()
            cursor.execute("UPDATE page SET visits = %s WHERE id = %s", (visits + 1, 1))
    connection.commit()


if __name__ == "__main__":
    with connect() as mine:
        visit(mine, os.environ.get("VISITS_GUARD"))
