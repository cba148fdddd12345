"""SmallBank: customers with a savings and a checking account, between which money moves.

The workload of MonkeyDB and IsoPredict: five customers, 30 % amalgamate, 30 % balance, 40 % send
payment. Their driver sends each payment to its sender, so that it changes nothing; here the
receiver is another customer, as the transaction means it.
"""
from common import UserAbort, insert, one, pick

CUSTOMERS = 5
BALANCE = 2500.0
PAYMENT = 5.0

TABLES = """
CREATE TABLE accounts (custid bigint PRIMARY KEY, name varchar(64) NOT NULL);
CREATE TABLE savings (custid bigint PRIMARY KEY, bal float NOT NULL);
CREATE TABLE checking (custid bigint PRIMARY KEY, bal float NOT NULL);
"""


def name_of(customer):
    return f"{customer:064}"


def rows():
    for customer in range(CUSTOMERS):
        yield insert("accounts", customer, name_of(customer))
        yield insert("savings", customer, BALANCE)
        yield insert("checking", customer, BALANCE)


def account(db, customer):
    return one(db.execute("SELECT * FROM accounts WHERE custid = %s", [customer]))


def balance_of(db, table, customer):
    [balance] = one(db.execute(f"SELECT bal FROM {table} WHERE custid = %s", [customer]))
    return balance


def set_balance(db, table, customer, balance):
    db.execute(f"UPDATE {table} SET bal = %s WHERE custid = %s", [balance, customer])


def amalgamate(db, sender, receiver):
    account(db, sender)
    account(db, receiver)
    total = balance_of(db, "savings", sender) + balance_of(db, "checking", sender)
    set_balance(db, "checking", sender, 0.0)
    set_balance(db, "savings", sender, 0.0)
    set_balance(db, "checking", receiver, balance_of(db, "checking", receiver) + total)


def balance(db, name):
    [customer] = one(db.execute("SELECT custid FROM accounts WHERE name = %s", [name]))
    balance_of(db, "savings", customer)
    balance_of(db, "checking", customer)


def send_payment(db, sender, receiver):
    account(db, sender)
    account(db, receiver)
    has = balance_of(db, "checking", sender)
    if has < PAYMENT:
        raise UserAbort("not enough money")
    set_balance(db, "checking", sender, has - PAYMENT)
    set_balance(db, "checking", receiver, balance_of(db, "checking", receiver) + PAYMENT)


WEIGHTS = {amalgamate: 30, balance: 30, send_payment: 40}


def draw(random, session, number):
    """The next transaction of a session, and its parameters."""
    transaction = pick(random, WEIGHTS)
    customer, other = random.sample(range(CUSTOMERS), 2)
    if transaction is balance:
        return balance, [name_of(customer)]
    return transaction, [customer, other]


def check(db):
    """A13: no money appears or disappears. Yields what does not hold."""
    money, customers = {}, set()
    for table in "savings", "checking":
        balances = db.execute(f"SELECT custid, bal FROM {table}").fetchall()
        customers.update(customer for customer, _ in balances)
        money[table] = sum(balance for _, balance in balances)
    total, expected = sum(money.values()), 2 * BALANCE * len(customers)
    # All amounts are small multiples of five, which floating point adds exactly.
    if total != expected:
        yield "A13", f"all accounts together have {total} instead of {expected}"
