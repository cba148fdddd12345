"""Voter: a show that its viewers call to vote, once for each telephone number.

The workload of MonkeyDB and IsoPredict: one contestant, one telephone number, and every transaction
is a vote.
"""
from common import insert, one

CONTESTANT = 1
PHONE = 2050000001
AREA_CODE = 205
VOTES_MAX = 1
CREATED = "1970-01-01 00:00:00"
STATES = "AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ"
AREA_CODES = range(201, 506)

TABLES = """
CREATE TABLE contestants (contestant_number int PRIMARY KEY, contestant_name varchar(50) NOT NULL);
CREATE TABLE area_code_state (area_code int PRIMARY KEY, state varchar(2) NOT NULL);
CREATE TABLE votes (
    vote_id bigint NOT NULL,
    phone_number bigint NOT NULL,
    state varchar(2) NOT NULL,
    contestant_number int NOT NULL REFERENCES contestants,
    created timestamp NOT NULL
);
"""


def rows():
    yield insert("contestants", CONTESTANT, "contestant 1")
    states = STATES.split()
    for area_code in AREA_CODES:
        yield insert("area_code_state", area_code, states[area_code % len(states)])


def vote(db, vote_id):
    contestant = db.execute(
        "SELECT contestant_number FROM contestants WHERE contestant_number = %s", [CONTESTANT]
    )
    if contestant.fetchone() is None:
        return
    votes = db.execute("SELECT * FROM votes WHERE phone_number = %s", [PHONE]).fetchall()
    if len(votes) >= VOTES_MAX:
        return
    [state] = one(
        db.execute("SELECT state FROM area_code_state WHERE area_code = %s", [AREA_CODE])
    )
    db.execute(
        "INSERT INTO votes (vote_id, phone_number, state, contestant_number, created)"
        " VALUES (%s, %s, %s, %s, %s)",
        [vote_id, PHONE, state, CONTESTANT, CREATED],
    )


def draw(random, session, number):
    """The next transaction of a session, and its parameters."""
    return vote, [number]


def check(db):
    """A14: no telephone number votes more often than it may. Yields what does not hold."""
    votes = db.execute("SELECT phone_number, count(*) FROM votes GROUP BY phone_number")
    for phone, count in votes.fetchall():
        if count > VOTES_MAX:
            yield "A14", f"{phone} voted {count} times"
