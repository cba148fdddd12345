"""What the four applications share."""
from psycopg import sql


class UserAbort(Exception):
    """The application itself gives its transaction up."""


def insert(table, *values):
    """A statement that inserts a row, as text."""
    literals = sql.SQL(", ").join(sql.Literal(value) for value in values)
    statement = sql.SQL("INSERT INTO {} VALUES ({});").format(sql.Identifier(table), literals)
    return statement.as_string(None)


def one(cursor):
    """The first row of an answer. Without one the transaction cannot go on."""
    row = cursor.fetchone()
    if row is None:
        raise UserAbort("a row is missing")
    return row


def pick(random, weights):
    """One of the keys, as likely as its weight says."""
    return random.choices(list(weights), weights=list(weights.values()))[0]
