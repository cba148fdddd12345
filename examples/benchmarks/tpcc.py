"""TPC-C: a warehouse with districts, whose customers order, pay and get what they ordered.

The workload of MonkeyDB and IsoPredict: one warehouse, two districts, three customers each, one
item; 45 % new orders, 43 % payments, 4 % each order status, delivery and stock level. As there, no
statement locks what it reads (no FOR UPDATE).
"""
from decimal import Decimal

from common import UserAbort, one, pick
from tpcc_check import check  # noqa: F401 (the driver calls it)
from tpcc_load import CUSTOMERS, DISTRICTS, ITEM, LAST_NAME, TABLES, W, rows  # noqa: F401

INVALID_ITEM = -12345
CARRIERS = 10
NOW = "2026-01-01 00:00:00"
# How many orders back the stock level looks, and how little stock is low.
LEVEL_ORDERS = 20
LOW_STOCK = 15


def new_order(db, district, customer, lines):
    """A customer orders `lines`: pairs of an item and a quantity."""
    one(
        db.execute(
            "SELECT c_discount, c_last, c_credit FROM customer"
            " WHERE c_w_id = %s AND c_d_id = %s AND c_id = %s",
            [W, district, customer],
        )
    )
    one(db.execute("SELECT w_tax FROM warehouse WHERE w_id = %s", [W]))
    number, _ = one(
        db.execute(
            "SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = %s AND d_id = %s",
            [W, district],
        )
    )
    db.execute(
        "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = %s AND d_id = %s",
        [W, district],
    )
    db.execute(
        "INSERT INTO oorder (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)"
        " VALUES (%s, %s, %s, %s, %s, %s, 1)",
        [number, district, W, customer, NOW, len(lines)],
    )
    db.execute(
        "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (%s, %s, %s)",
        [number, district, W],
    )
    # All is read before any stock is updated, so that the quantities are those of before.
    found = [(item, quantity, *look_at_item(db, item)) for item, quantity in lines]
    for place, (item, quantity, price, _) in enumerate(found, start=1):
        db.execute(
            "INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id,"
            " ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, 'district')",
            [number, district, W, place, item, W, quantity, quantity * price],
        )
    for item, quantity, _, stock in found:
        take_from_stock(db, item, quantity, stock)


def look_at_item(db, item):
    """Its price, and how much is in stock."""
    price, _, _ = one(
        db.execute("SELECT i_price, i_name, i_data FROM item WHERE i_id = %s", [item])
    )
    stock, *_ = one(
        db.execute(
            "SELECT s_quantity, s_data, s_dist FROM stock WHERE s_i_id = %s AND s_w_id = %s",
            [item, W],
        )
    )
    return price, stock


def take_from_stock(db, item, quantity, stock):
    left = stock - quantity
    db.execute(
        "UPDATE stock SET s_quantity = %s, s_ytd = s_ytd + %s, s_order_cnt = s_order_cnt + 1,"
        " s_remote_cnt = s_remote_cnt + 0 WHERE s_i_id = %s AND s_w_id = %s",
        [left if left >= 10 else left + 91, quantity, item, W],
    )


def find_customer(db, district, customer):
    """The number of a customer who is known by number or, if that is None, by last name."""
    if customer is not None:
        return customer
    named = db.execute(
        "SELECT c_id FROM customer WHERE c_w_id = %s AND c_d_id = %s AND c_last = %s"
        " ORDER BY c_first",
        [W, district, LAST_NAME],
    ).fetchall()
    if not named:
        raise UserAbort("nobody has that name")
    [middle] = named[len(named) // 2]
    return middle


def payment(db, district, customer_district, customer, amount):
    db.execute("UPDATE warehouse SET w_ytd = w_ytd + %s WHERE w_id = %s", [amount, W])
    one(
        db.execute(
            "SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse"
            " WHERE w_id = %s",
            [W],
        )
    )
    db.execute(
        "UPDATE district SET d_ytd = d_ytd + %s WHERE d_w_id = %s AND d_id = %s",
        [amount, W, district],
    )
    one(
        db.execute(
            "SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district"
            " WHERE d_w_id = %s AND d_id = %s",
            [W, district],
        )
    )
    customer = find_customer(db, customer_district, customer)
    charge(db, district, customer_district, customer, amount)
    db.execute(
        "INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount,"
        " h_data) VALUES (%s, %s, %s, %s, %s, %s, %s, 'payment')",
        [customer, customer_district, W, district, W, NOW, amount],
    )


def charge(db, district, customer_district, customer, amount):
    """Takes an amount from a customer; the client computes what is written."""
    who = [W, customer_district, customer]
    balance, paid, payments, credit, data = one(
        db.execute(
            "SELECT c_balance, c_ytd_payment, c_payment_cnt, c_credit, c_data FROM customer"
            " WHERE c_w_id = %s AND c_d_id = %s AND c_id = %s",
            who,
        )
    )
    db.execute(
        "UPDATE customer SET c_balance = %s, c_ytd_payment = %s, c_payment_cnt = %s"
        " WHERE c_w_id = %s AND c_d_id = %s AND c_id = %s",
        [balance - amount, paid + amount, payments + 1, *who],
    )
    if credit == "BC":
        note = f"{customer} {customer_district} {district} {amount} | {data}"
        db.execute(
            "UPDATE customer SET c_data = %s WHERE c_w_id = %s AND c_d_id = %s AND c_id = %s",
            [note[:500], *who],
        )


def order_status(db, district, customer):
    """The newest order of a customer, and its lines."""
    customer = find_customer(db, district, customer)
    one(
        db.execute(
            "SELECT c_balance, c_first, c_middle, c_last FROM customer"
            " WHERE c_w_id = %s AND c_d_id = %s AND c_id = %s",
            [W, district, customer],
        )
    )
    newest = db.execute(
        "SELECT o_id, o_carrier_id, o_entry_d FROM oorder"
        " WHERE o_w_id = %s AND o_d_id = %s AND o_c_id = %s ORDER BY o_id DESC LIMIT 1",
        [W, district, customer],
    ).fetchone()
    if newest is None:
        return
    db.execute(
        "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line"
        " WHERE ol_o_id = %s AND ol_d_id = %s AND ol_w_id = %s",
        [newest[0], district, W],
    ).fetchall()


def delivery(db, districts, carrier):
    """Delivers the oldest open order of each of the first districts."""
    for district in range(1, districts + 1):
        [order] = one(
            db.execute(
                "SELECT min(no_o_id) FROM new_order WHERE no_d_id = %s AND no_w_id = %s",
                [district, W],
            )
        )
        if order is not None:
            deliver(db, district, order, carrier)


def deliver(db, district, order, carrier):
    which = [order, district, W]
    db.execute(
        "DELETE FROM new_order WHERE no_o_id = %s AND no_d_id = %s AND no_w_id = %s", which
    )
    [customer] = one(
        db.execute(
            "SELECT o_c_id FROM oorder WHERE o_id = %s AND o_d_id = %s AND o_w_id = %s", which
        )
    )
    db.execute(
        "UPDATE oorder SET o_carrier_id = %s WHERE o_id = %s AND o_d_id = %s AND o_w_id = %s",
        [carrier, *which],
    )
    db.execute(
        "UPDATE order_line SET ol_delivery_d = %s"
        " WHERE ol_o_id = %s AND ol_d_id = %s AND ol_w_id = %s",
        [NOW, *which],
    )
    [total] = one(
        db.execute(
            "SELECT sum(ol_amount) FROM order_line"
            " WHERE ol_o_id = %s AND ol_d_id = %s AND ol_w_id = %s",
            which,
        )
    )
    if total is None:
        raise UserAbort("an order without lines")
    db.execute(
        "UPDATE customer SET c_balance = c_balance + %s, c_delivery_cnt = c_delivery_cnt + 1"
        " WHERE c_w_id = %s AND c_d_id = %s AND c_id = %s",
        [total, W, district, customer],
    )


def stock_level(db, district):
    """Which items of the last orders are low in stock. As in the benchmark, orders are looked at
    only if there are more than so many, which is never so here."""
    [after] = one(
        db.execute(
            "SELECT d_next_o_id FROM district WHERE d_w_id = %s AND d_id = %s", [W, district]
        )
    )
    first = after - LEVEL_ORDERS if after > LEVEL_ORDERS else after
    db.execute(
        "SELECT count(DISTINCT s_i_id) FROM order_line JOIN stock"
        " ON s_i_id = ol_i_id AND s_w_id = ol_w_id WHERE ol_w_id = %s AND ol_d_id = %s"
        " AND ol_o_id >= %s AND ol_o_id < %s AND s_quantity < %s",
        [W, district, first, after, LOW_STOCK],
    ).fetchall()


WEIGHTS = {new_order: 45, payment: 43, order_status: 4, delivery: 4, stock_level: 4}


def draw(random, session, number):
    """The next transaction of a session, and its parameters."""
    # Of three terminals two work in the first district; the first terminal delivers nowhere.
    district, districts = 2 if session % 3 == 2 else 1, session % 3
    transaction = pick(random, WEIGHTS)
    if transaction is new_order:
        return new_order, [district, random.randint(1, CUSTOMERS), draw_lines(random)]
    if transaction is payment:
        theirs = district if random.random() < 0.85 else random.randint(1, DISTRICTS)
        customer = draw_customer(random)
        amount = Decimal(random.randint(100, 500_000)).scaleb(-2)
        return payment, [district, theirs, customer, amount]
    if transaction is order_status:
        return order_status, [district, draw_customer(random)]
    if transaction is delivery:
        return delivery, [districts, random.randint(1, CARRIERS)]
    return stock_level, [district]


def draw_customer(random):
    """A number, or None: by last name."""
    return None if random.random() < 0.6 else random.randint(1, CUSTOMERS)


def draw_lines(random):
    """5 to 15 lines; in 1 % of the orders the last one is of an item that does not exist."""
    lines = [(ITEM, random.randint(1, 10)) for _ in range(random.randint(5, 15))]
    if random.random() < 0.01:
        lines[-1] = (INVALID_ITEM, 1)
    return lines
