"""Wikipedia: pages with revisions, and users who read, edit and watch them.

The workload of MonkeyDB and IsoPredict: two users and two pages, of which the first are always
taken (and no user at all in 26 % of the draws), 90 % anonymous page views, 7 % edits. Where their
code has an evident mistake this does what is meant: a revision has its own text and a page points
to its latest revision (there: always 100 and 1), no read of all revisions for debugging, no titles
that garble each other. Their A15 and A16 fail only if a user has more edits than rows, which no
lost update brings about; here the numbers must be the same.
"""
from random import Random

from psycopg import errors

from common import UserAbort, insert, one, pick

USERS = 2
PAGES = 2
NAMESPACE = 0
ANONYMOUS = 0
ANONYMOUS_SHARE = 0.26
NOW = "20260101000000"
IP = "10.0.0.1"
TRIES_MAX = 100

TABLES = """
CREATE TABLE useracct (
    user_id serial PRIMARY KEY, user_name varchar(255) NOT NULL UNIQUE,
    user_touched varchar(14) NOT NULL, user_editcount int NOT NULL
);
CREATE TABLE user_groups (
    ug_user int NOT NULL, ug_group varchar(16) NOT NULL, PRIMARY KEY (ug_user, ug_group)
);
CREATE TABLE ipblocks (
    ipb_id serial PRIMARY KEY, ipb_address varchar(40) NOT NULL, ipb_user int NOT NULL
);
CREATE TABLE page (
    page_id serial PRIMARY KEY, page_namespace int NOT NULL, page_title varchar(255) NOT NULL,
    page_touched varchar(14) NOT NULL, page_latest int NOT NULL, page_len int NOT NULL,
    UNIQUE (page_namespace, page_title)
);
CREATE TABLE page_restrictions (
    pr_page int NOT NULL, pr_type varchar(60) NOT NULL, pr_level varchar(60) NOT NULL,
    PRIMARY KEY (pr_page, pr_type)
);
CREATE TABLE revision (
    rev_id serial PRIMARY KEY, rev_page int NOT NULL, rev_text_id int NOT NULL,
    rev_user int NOT NULL, rev_timestamp varchar(14) NOT NULL
);
CREATE TABLE text (old_id serial PRIMARY KEY, old_text text NOT NULL);
CREATE TABLE recentchanges (
    rc_id serial PRIMARY KEY, rc_user int NOT NULL, rc_title varchar(255) NOT NULL,
    rc_cur_id int NOT NULL, rc_this_oldid int NOT NULL, rc_timestamp varchar(14) NOT NULL
);
CREATE TABLE logging (
    log_id serial PRIMARY KEY, log_user int NOT NULL, log_title varchar(255) NOT NULL,
    log_page int NOT NULL, log_timestamp varchar(14) NOT NULL
);
CREATE TABLE watchlist (
    wl_user int NOT NULL, wl_namespace int NOT NULL, wl_title varchar(255) NOT NULL,
    wl_notificationtimestamp varchar(14), UNIQUE (wl_user, wl_namespace, wl_title)
);
CREATE TABLE page_backup (page_id int PRIMARY KEY, page_title varchar(255) NOT NULL);
CREATE TABLE value_backup (table_name varchar(255) NOT NULL, maxid int);
"""


def title_of(page):
    return f"Page {page}"


def rows():
    random = Random(0)
    for user in range(1, USERS + 1):
        yield insert("useracct", user, f"user {user}", NOW, 0)
    revision = 0
    for page in range(1, PAGES + 1):
        for _ in range(random.randint(1, 4)):
            revision += 1
            yield insert("text", revision, f"text {revision}")
            yield insert("revision", revision, page, revision, 1, NOW)
        yield insert("page", page, NAMESPACE, title_of(page), NOW, revision, 6)
        for user in range(1, USERS + 1):
            if random.random() < 0.5:
                yield insert("watchlist", user, NAMESPACE, title_of(page), None)
    for table, key, last in (
        ("useracct", "user_id", USERS),
        ("page", "page_id", PAGES),
        ("text", "old_id", revision),
        ("revision", "rev_id", revision),
    ):
        yield f"SELECT setval('{table}_{key}_seq', {last});"


def get_page(db, title):
    """Looks at the latest revision of a page; its number."""
    page, *_ = one(
        db.execute(
            "SELECT * FROM page WHERE page_namespace = %s AND page_title = %s",
            [NAMESPACE, title],
        )
    )
    db.execute("SELECT * FROM page_restrictions WHERE pr_page = %s", [page]).fetchall()
    db.execute("SELECT * FROM ipblocks WHERE ipb_address = %s", [IP]).fetchall()
    [latest] = one(db.execute("SELECT page_latest FROM page WHERE page_id = %s", [page]))
    [text] = one(
        db.execute(
            "SELECT rev_text_id FROM revision WHERE rev_page = %s AND rev_id = %s",
            [page, latest],
        )
    )
    one(db.execute("SELECT old_text FROM text WHERE old_id = %s", [text]))
    return page


def get_page_anonymous(db, user, title):
    get_page(db, title)


def get_page_authenticated(db, user, title):
    db.execute("SELECT * FROM useracct WHERE user_id = %s", [user]).fetchall()
    db.execute("SELECT ug_group FROM user_groups WHERE ug_user = %s", [user]).fetchall()
    db.execute("SELECT * FROM ipblocks WHERE ipb_user = %s", [user]).fetchall()
    get_page(db, title)


def touch(db, user):
    db.execute("UPDATE useracct SET user_touched = %s WHERE user_id = %s", [NOW, user])


def add_watch_list(db, user, title):
    db.execute(
        "INSERT INTO watchlist VALUES (%s, %s, %s, NULL) ON CONFLICT DO NOTHING",
        [user, NAMESPACE, title],
    )
    touch(db, user)


def remove_watch_list(db, user, title):
    db.execute(
        "DELETE FROM watchlist WHERE wl_user = %s AND wl_namespace = %s AND wl_title = %s",
        [user, NAMESPACE, title],
    )
    touch(db, user)


def update_page(db, user, title):
    """An edit: two transactions, or four if another user watches the page."""
    page = get_page(db, title)
    db.commit()
    watchers = write_revision(db, user, page, title)
    if not watchers:
        count_edit(db, user, page, title)
        return
    db.commit()
    # From here on the edit is there for everybody to see, so what belongs to it is tried again if
    # the database refuses it.
    persist(db, notify, watchers, title)
    persist(db, look_and_count, watchers, user, page, title)


def write_revision(db, user, page, title):
    """Writes a revision; the other users who watch the page."""
    text = f"edit of {user}"
    [old_id] = one(
        db.execute("INSERT INTO text (old_text) VALUES (%s) RETURNING old_id", [text])
    )
    [revision] = one(
        db.execute(
            "INSERT INTO revision (rev_page, rev_text_id, rev_user, rev_timestamp)"
            " VALUES (%s, %s, %s, %s) RETURNING rev_id",
            [page, old_id, user, NOW],
        )
    )
    db.execute(
        "UPDATE page SET page_latest = %s, page_touched = %s, page_len = %s WHERE page_id = %s",
        [revision, NOW, len(text), page],
    )
    db.execute(
        "INSERT INTO recentchanges (rc_user, rc_title, rc_cur_id, rc_this_oldid, rc_timestamp)"
        " VALUES (%s, %s, %s, %s, %s)",
        [user, title, page, revision, NOW],
    )
    watchers = db.execute(
        "SELECT wl_user FROM watchlist"
        " WHERE wl_title = %s AND wl_namespace = %s AND wl_user <> %s",
        [title, NAMESPACE, user],
    )
    return [watcher for [watcher] in watchers.fetchall()]


def notify(db, watchers, title):
    for watcher in watchers:
        db.execute(
            "UPDATE watchlist SET wl_notificationtimestamp = %s"
            " WHERE wl_user = %s AND wl_namespace = %s AND wl_title = %s",
            [NOW, watcher, NAMESPACE, title],
        )


def look_and_count(db, watchers, user, page, title):
    for watcher in watchers:
        db.execute("SELECT * FROM useracct WHERE user_id = %s", [watcher]).fetchall()
    count_edit(db, user, page, title)


def count_edit(db, user, page, title):
    db.execute(
        "INSERT INTO logging (log_user, log_title, log_page, log_timestamp)"
        " VALUES (%s, %s, %s, %s)",
        [user, title, page, NOW],
    )
    db.execute(
        "UPDATE useracct SET user_editcount = user_editcount + 1 WHERE user_id = %s", [user]
    )
    touch(db, user)


def persist(db, step, *parameters):
    """Does a transaction until it commits."""
    for _ in range(TRIES_MAX):
        try:
            step(db, *parameters)
            db.commit()
            return
        except (errors.SerializationFailure, errors.DeadlockDetected):
            db.rollback()
    raise UserAbort(f"{step.__name__} was refused {TRIES_MAX} times")


WEIGHTS = {
    add_watch_list: 1,
    remove_watch_list: 1,
    update_page: 7,
    get_page_anonymous: 90,
    get_page_authenticated: 1,
}


def draw(random, session, number):
    """The next transaction of a session, and its parameters."""
    transaction = pick(random, WEIGHTS)
    user = ANONYMOUS if random.random() < ANONYMOUS_SHARE else 1
    if transaction in (add_watch_list, remove_watch_list):
        user = 1
    return transaction, [user, title_of(1)]


def check(db):
    """A15 to A17: the edits of a user are counted as they are logged. Yields what is not so."""
    edits = dict(db.execute("SELECT user_id, user_editcount FROM useracct").fetchall())
    changes = counted(db, "SELECT rc_user, count(*) FROM recentchanges GROUP BY rc_user")
    logged = counted(db, "SELECT log_user, count(*) FROM logging GROUP BY log_user")
    for user, count in edits.items():
        if count != changes.get(user, 0):
            yield "A15", f"user {user} has {count} edits and {changes.get(user, 0)} changes"
        if count != logged.get(user, 0):
            yield "A16", f"user {user} has {count} edits and {logged.get(user, 0)} log entries"
    for user in changes.keys() | logged.keys():
        if changes.get(user, 0) != logged.get(user, 0):
            said = f"{changes.get(user, 0)} changes and {logged.get(user, 0)} log entries"
            yield "A17", f"user {user} has {said}"


def counted(db, query):
    return dict(db.execute(query).fetchall())
