"""The tables of TPC-C and what is in them at first: in each district two delivered orders and an
open one, and balances that agree with them."""
from decimal import Decimal
from random import Random

from common import insert

W = 1
DISTRICTS = 2
CUSTOMERS = 3
ORDERS = 3
ITEM = 1
LAST_NAME = "BARBARBAR"
PAID = 10
THEN = "1970-01-01 00:00:00"
ADDRESS = "street 1", "street 2", "city", "OH", "431111111"

TABLES = """
CREATE TABLE warehouse (
    w_id int PRIMARY KEY, w_ytd decimal(12, 2) NOT NULL, w_tax decimal(4, 4) NOT NULL,
    w_name varchar(10) NOT NULL, w_street_1 varchar(20) NOT NULL, w_street_2 varchar(20) NOT NULL,
    w_city varchar(20) NOT NULL, w_state char(2) NOT NULL, w_zip char(9) NOT NULL
);
CREATE TABLE district (
    d_w_id int, d_id int, d_ytd decimal(12, 2) NOT NULL, d_tax decimal(4, 4) NOT NULL,
    d_next_o_id int NOT NULL, d_name varchar(10) NOT NULL, d_street_1 varchar(20) NOT NULL,
    d_street_2 varchar(20) NOT NULL, d_city varchar(20) NOT NULL, d_state char(2) NOT NULL,
    d_zip char(9) NOT NULL, PRIMARY KEY (d_w_id, d_id)
);
CREATE TABLE customer (
    c_w_id int, c_d_id int, c_id int, c_discount decimal(4, 4) NOT NULL, c_credit char(2) NOT NULL,
    c_last varchar(16) NOT NULL, c_first varchar(16) NOT NULL, c_credit_lim decimal(12, 2) NOT NULL,
    c_balance decimal(12, 2) NOT NULL, c_ytd_payment decimal(12, 2) NOT NULL,
    c_payment_cnt int NOT NULL, c_delivery_cnt int NOT NULL, c_street_1 varchar(20) NOT NULL,
    c_street_2 varchar(20) NOT NULL, c_city varchar(20) NOT NULL, c_state char(2) NOT NULL,
    c_zip char(9) NOT NULL, c_phone char(16) NOT NULL, c_since timestamp NOT NULL,
    c_middle char(2) NOT NULL, c_data varchar(500) NOT NULL, PRIMARY KEY (c_w_id, c_d_id, c_id)
);
CREATE TABLE oorder (
    o_w_id int, o_d_id int, o_id int, o_c_id int NOT NULL, o_carrier_id int, o_ol_cnt int NOT NULL,
    o_all_local int NOT NULL, o_entry_d timestamp NOT NULL, PRIMARY KEY (o_w_id, o_d_id, o_id)
);
CREATE TABLE new_order (
    no_w_id int, no_d_id int, no_o_id int, PRIMARY KEY (no_w_id, no_d_id, no_o_id)
);
CREATE TABLE order_line (
    ol_w_id int, ol_d_id int, ol_o_id int, ol_number int, ol_i_id int NOT NULL,
    ol_delivery_d timestamp, ol_amount decimal(8, 2) NOT NULL, ol_supply_w_id int NOT NULL,
    ol_quantity int NOT NULL, ol_dist_info char(24) NOT NULL,
    PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number)
);
CREATE TABLE history (
    h_c_id int NOT NULL, h_c_d_id int NOT NULL, h_c_w_id int NOT NULL, h_d_id int NOT NULL,
    h_w_id int NOT NULL, h_date timestamp NOT NULL, h_amount decimal(8, 2) NOT NULL,
    h_data varchar(24) NOT NULL
);
CREATE TABLE item (
    i_id int PRIMARY KEY, i_name varchar(24) NOT NULL, i_price decimal(5, 2) NOT NULL,
    i_data varchar(50) NOT NULL, i_im_id int NOT NULL
);
CREATE TABLE stock (
    s_w_id int, s_i_id int, s_quantity int NOT NULL, s_ytd decimal(8, 2) NOT NULL,
    s_order_cnt int NOT NULL, s_remote_cnt int NOT NULL, s_data varchar(50) NOT NULL,
    s_dist char(24) NOT NULL, PRIMARY KEY (s_w_id, s_i_id)
);
"""


def rows():
    random = Random(0)
    paid = PAID * CUSTOMERS * DISTRICTS
    yield insert("warehouse", W, paid, Decimal("0.1"), "warehouse", *ADDRESS)
    yield insert("item", ITEM, "item", Decimal("12.34"), "data", 1)
    yield insert("stock", W, ITEM, random.randint(10, 100), 0, 0, 0, "data", "district")
    for district in range(1, DISTRICTS + 1):
        own = PAID * CUSTOMERS, Decimal("0.05"), ORDERS + 1, "district", *ADDRESS
        yield insert("district", W, district, *own)
        yield from customers(random, district)
        yield from orders(random, district)


def customers(random, district):
    for customer in range(1, CUSTOMERS + 1):
        credit = "BC" if random.random() < 0.1 else "GC"
        discount = Decimal(random.randint(0, 5000)).scaleb(-4)
        name = discount, credit, LAST_NAME, f"first {random.randint(1, 10**6)}"
        money = 50_000, -PAID, PAID, 1, 0
        rest = *ADDRESS, "phone", THEN, "OE", "data"
        yield insert("customer", W, district, customer, *name, *money, *rest)
        yield insert("history", customer, district, W, district, W, THEN, PAID, "load")


def orders(random, district):
    """Each customer has one, in some order."""
    permuted = random.sample(range(1, CUSTOMERS + 1), ORDERS)
    for order, customer in enumerate(permuted, start=1):
        is_open, count = order == ORDERS, random.randint(5, 15)
        carrier = None if is_open else random.randint(1, 10)
        yield insert("oorder", W, district, order, customer, carrier, count, 1, THEN)
        if is_open:
            yield insert("new_order", W, district, order)
        for number in range(1, count + 1):
            amount = Decimal(random.randint(1, 999_999) if is_open else 0).scaleb(-2)
            delivered = None if is_open else THEN
            rest = ITEM, delivered, amount, W, 5, "district"
            yield insert("order_line", W, district, order, number, *rest)
