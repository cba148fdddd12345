#!/usr/bin/env python3
"""Loads the nine tables of TPC-C with one warehouse over psycopg 3, and says how long it took.

    tpcc_load.py URL [copy|insert]

`copy` sends each table by COPY, `insert` by INSERTs of 100 rows, as drivers batch them. Sizes are
those of the specification: 100,000 items, as many of stock, 30,000 customers and orders, about
300,000 order lines.
"""
import itertools
import random
import sys
import time

import psycopg

SCHEMA = """
CREATE TABLE warehouse (w_id int PRIMARY KEY, w_name varchar(10), w_street_1 varchar(20),
    w_street_2 varchar(20), w_city varchar(20), w_state char(2), w_zip char(9),
    w_tax numeric(4,4), w_ytd numeric(12,2));
CREATE TABLE district (d_id int, d_w_id int REFERENCES warehouse, d_name varchar(10),
    d_street_1 varchar(20), d_street_2 varchar(20), d_city varchar(20), d_state char(2),
    d_zip char(9), d_tax numeric(4,4), d_ytd numeric(12,2), d_next_o_id int,
    PRIMARY KEY (d_w_id, d_id));
CREATE TABLE customer (c_id int, c_d_id int, c_w_id int, c_first varchar(16), c_middle char(2),
    c_last varchar(16), c_street_1 varchar(20), c_street_2 varchar(20), c_city varchar(20),
    c_state char(2), c_zip char(9), c_phone char(16), c_since timestamp, c_credit char(2),
    c_credit_lim numeric(12,2), c_discount numeric(4,4), c_balance numeric(12,2),
    c_ytd_payment numeric(12,2), c_payment_cnt int, c_delivery_cnt int, c_data varchar(500),
    PRIMARY KEY (c_w_id, c_d_id, c_id));
CREATE INDEX customer_name ON customer (c_w_id, c_d_id, c_last, c_first);
CREATE TABLE history (h_c_id int, h_c_d_id int, h_c_w_id int, h_d_id int, h_w_id int,
    h_date timestamp, h_amount numeric(6,2), h_data varchar(24));
CREATE TABLE orders (o_id int, o_d_id int, o_w_id int, o_c_id int, o_entry_d timestamp,
    o_carrier_id int, o_ol_cnt int, o_all_local int, PRIMARY KEY (o_w_id, o_d_id, o_id));
CREATE INDEX orders_customer ON orders (o_w_id, o_d_id, o_c_id, o_id);
CREATE TABLE new_order (no_o_id int, no_d_id int, no_w_id int,
    PRIMARY KEY (no_w_id, no_d_id, no_o_id));
CREATE TABLE item (i_id int PRIMARY KEY, i_im_id int, i_name varchar(24), i_price numeric(5,2),
    i_data varchar(50));
CREATE TABLE stock (s_i_id int, s_w_id int, s_quantity int, s_dist_01 char(24),
    s_dist_02 char(24), s_dist_03 char(24), s_dist_04 char(24), s_dist_05 char(24),
    s_dist_06 char(24), s_dist_07 char(24), s_dist_08 char(24), s_dist_09 char(24),
    s_dist_10 char(24), s_ytd int, s_order_cnt int, s_remote_cnt int, s_data varchar(50),
    PRIMARY KEY (s_w_id, s_i_id));
CREATE TABLE order_line (ol_o_id int, ol_d_id int, ol_w_id int, ol_number int, ol_i_id int,
    ol_supply_w_id int, ol_delivery_d timestamp, ol_quantity int, ol_amount numeric(6,2),
    ol_dist_info char(24), PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number));
"""
TABLES = "order_line stock item new_order orders history customer district warehouse".split()
NAMES = "BAR OUGHT ABLE PRI PRES ESE ANTI CALLY ATION EING".split()
NOW = "2026-11-18 12:00:00"
chance = random.Random(1)
letters = "".join(chance.choice("abcdefghijklmnopqrstuvwxyz ") for _ in range(100_000))


def text(least, most):
    length = chance.randint(least, most)
    start = chance.randrange(len(letters) - length)
    return "x" + letters[start : start + length - 2] + "y"


def address():
    return [text(10, 20), text(10, 20), text(10, 20), "CA", "123411111"]


def last_name(number):
    return NAMES[number // 100] + NAMES[number // 10 % 10] + NAMES[number % 10]


def items():
    for item in range(1, 100_001):
        price = f"{chance.randint(100, 10000) / 100:.2f}"
        yield [item, chance.randint(1, 10_000), text(14, 24), price, text(26, 50)]


def stock():
    for item in range(1, 100_001):
        info = [text(24, 24) for _ in range(10)]
        yield [item, 1, chance.randint(10, 100), *info, 0, 0, 0, text(26, 50)]


def customers():
    for district, customer in itertools.product(range(1, 11), range(1, 3001)):
        number = customer - 1 if customer <= 1000 else chance.randrange(1000)
        yield [customer, district, 1, text(8, 16), "OE", last_name(number), *address(),
               "0123456789012345", NOW, "GC", "50000.00", "0.1000", "-10.00", "10.00", 1, 0,
               text(300, 500)]


def payments():
    for district, customer in itertools.product(range(1, 11), range(1, 3001)):
        yield [customer, district, 1, district, 1, NOW, "10.00", text(12, 24)]


def orders(lines):
    for district in range(1, 11):
        buyers = chance.sample(range(1, 3001), 3000)
        for order, customer in enumerate(buyers, 1):
            count = chance.randint(5, 15)
            lines.append((district, order, count))
            carrier = chance.randint(1, 10) if order < 2101 else None
            yield [order, district, 1, customer, NOW, carrier, count, 1]


def order_lines(lines):
    for district, order, count in lines:
        for line in range(1, count + 1):
            delivered = NOW if order < 2101 else None
            yield [order, district, 1, line, chance.randint(1, 100_000), 1, delivered, 5, "0.00",
                   text(24, 24)]


def send(cursor, how, table, rows):
    begun, count = time.time(), 0
    if how == "copy":
        with cursor.copy(f"COPY {table} FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
                count += 1
    else:
        while batch := list(itertools.islice(rows, 100)):
            width = ", ".join(["%s"] * len(batch[0]))
            values = ", ".join([f"({width})"] * len(batch))
            cursor.execute(f"INSERT INTO {table} VALUES {values}", sum(batch, []))
            count += len(batch)
    cursor.connection.commit()
    print(f"{table}: {count} rows in {time.time() - begun:.1f} s", flush=True)


def main():
    url, how = sys.argv[1], (sys.argv[2:] or ["copy"])[0]
    begun, lines = time.time(), []
    with psycopg.connect(url) as connection:
        cursor = connection.cursor()
        for table in TABLES:
            cursor.execute(f"DROP TABLE IF EXISTS {table} CASCADE")
        cursor.execute(SCHEMA)
        connection.commit()
        send(cursor, how, "warehouse", iter([[1, "W", *address(), "0.1000", "300000.00"]]))
        districts = [[d, 1, f"D{d}", *address(), "0.1000", "30000.00", 3001] for d in range(1, 11)]
        send(cursor, how, "district", iter(districts))
        send(cursor, how, "item", items())
        send(cursor, how, "stock", stock())
        send(cursor, how, "customer", customers())
        send(cursor, how, "history", payments())
        send(cursor, how, "orders", orders(lines))
        newest = ([order, district, 1] for district in range(1, 11) for order in range(2101, 3001))
        send(cursor, how, "new_order", newest)
        send(cursor, how, "order_line", order_lines(lines))
    print(f"{how}: {time.time() - begun:.1f} s in all")


main()
