"""What must hold in TPC-C: A1 to A12, as MonkeyDB and IsoPredict number them.

Each is a function that yields what does not hold. Keys that are missing on one side are passed
over.
"""


def check(db):
    """Yields the number of each assertion that does not hold, and why."""
    books = Books(db)
    for assertion in ASSERTIONS:
        for what in assertion(books):
            yield assertion.__name__.upper(), what


class Books:
    """The content of the tables as far as assertions are about it. A district is a warehouse and a
    number; orders and customers have their number behind that. Rows with the same key are several
    rows, if the tables allow it."""

    def __init__(self, db):
        def rows(query):
            return db.execute(query).fetchall()

        self.w_ytd = dict(rows("SELECT w_id, w_ytd FROM warehouse"))
        self.districts = {
            (w_id, d_id): rest
            for w_id, d_id, *rest in rows("SELECT d_w_id, d_id, d_ytd, d_next_o_id FROM district")
        }
        self.customers = {
            tuple(key): (balance, paid)
            for *key, balance, paid in rows(
                "SELECT c_w_id, c_d_id, c_id, c_balance, c_ytd_payment FROM customer"
            )
        }
        # Pairs of an order and its customer, carrier and number of lines.
        self.orders = [
            (tuple(order[:3]), order[3:])
            for order in rows(
                "SELECT o_w_id, o_d_id, o_id, o_c_id, o_carrier_id, o_ol_cnt FROM oorder"
            )
        ]
        self.open = rows("SELECT no_w_id, no_d_id, no_o_id FROM new_order")
        # The lines of each order, in their order: their amounts and when they were delivered.
        self.lines = {}
        for *order, amount, delivered in rows(
            "SELECT ol_w_id, ol_d_id, ol_o_id, ol_amount, ol_delivery_d FROM order_line"
            " ORDER BY ol_w_id, ol_d_id, ol_o_id, ol_number"
        ):
            self.lines.setdefault(tuple(order), []).append((amount, delivered))
        self.payments = rows(
            "SELECT h_w_id, h_d_id, h_c_w_id, h_c_d_id, h_c_id, h_amount FROM history"
        )

    def orders_of(self, district):
        return [(order[2], rest) for order, rest in self.orders if order[:2] == district]

    def open_of(self, district):
        return [number for *where, number in self.open if tuple(where) == district]

    def delivered_to(self):
        """The amounts of delivered lines, by customer; of customers with an order."""
        totals = {}
        for order, (customer, _, _) in self.orders:
            key = *order[:2], customer
            lines = self.lines.get(order, [])
            delivered = sum(amount for amount, when in lines if when is not None)
            totals[key] = totals.get(key, 0) + delivered
        return totals

    def paid(self, key):
        """The sums of payments, by whatever `key` says of a payment."""
        totals = {}
        for payment in self.payments:
            totals[key(payment)] = totals.get(key(payment), 0) + payment[-1]
        return totals


def a1(books):
    """The warehouse took what its districts took."""
    for warehouse, ytd in books.w_ytd.items():
        own = [d_ytd for (w_id, _), (d_ytd, _) in books.districts.items() if w_id == warehouse]
        total = sum(own)
        if ytd != total:
            yield f"warehouse {warehouse} took {ytd} and its districts {total}"


def a2(books):
    """The next number of an order follows the last order, and the last open one."""
    for district, (_, following) in books.districts.items():
        last = max((number for number, _ in books.orders_of(district)), default=None)
        last_open = max(books.open_of(district), default=last)
        if last is not None and not following - 1 == last == last_open:
            numbers = f"order {following}, the last is {last}, the last open one {last_open}"
            yield f"the next order of {district} is {numbers}"


def a3(books):
    """There is no gap between open orders."""
    for district in books.districts:
        numbers = books.open_of(district)
        if numbers and max(numbers) - min(numbers) + 1 != len(numbers):
            yield f"the open orders of {district} are {sorted(numbers)}"


def a4(books):
    """The orders of a district have as many lines as they say together."""
    for district in books.districts:
        said = sum(count for _, (_, _, count) in books.orders_of(district))
        found = sum(len(lines) for order, lines in books.lines.items() if order[:2] == district)
        if said != found:
            yield f"the orders of {district} say {said} lines, and there are {found}"


def a5(books):
    """No open order has a carrier."""
    for order, (_, carrier, _) in books.orders:
        if carrier is not None and order in books.open:
            yield f"order {order} is open and has a carrier"


def a6(books):
    """An order has as many lines as it says."""
    for order, (_, _, said) in books.orders:
        found = len(books.lines.get(order, []))
        if said != found:
            yield f"order {order} says {said} lines, and there are {found}"


def a7(books):
    """The last line of an order is delivered if and only if the order has a carrier."""
    last = {order: lines[-1][1] for order, lines in books.lines.items()}
    for order, (_, carrier, _) in books.orders:
        if order in last and (carrier is None) != (last[order] is None):
            yield f"order {order} has a carrier or a delivered last line, but not both"


def a8(books):
    """The warehouse took what the history says."""
    paid = books.paid(lambda payment: payment[0])
    for warehouse, ytd in books.w_ytd.items():
        if warehouse in paid and ytd != paid[warehouse]:
            yield f"warehouse {warehouse} took {ytd}, and the history says {paid[warehouse]}"


def a9(books):
    """A district took what the history says."""
    paid = books.paid(lambda payment: payment[:2])
    for district, (ytd, _) in books.districts.items():
        if district in paid and ytd != paid[district]:
            yield f"district {district} took {ytd}, and the history says {paid[district]}"


def a10(books):
    """A customer's balance is what was delivered less what was paid."""
    paid, delivered = books.paid(lambda payment: payment[2:5]), books.delivered_to()
    for customer, (balance, _) in books.customers.items():
        if customer not in paid or customer not in delivered:
            continue
        expected = delivered[customer] - paid[customer]
        if balance != expected:
            yield f"customer {customer} has {balance}, and deliveries and payments say {expected}"


def a11(books):
    """Of the orders of a district at least two are not open, as at first."""
    for district in books.districts:
        orders, is_open = len(books.orders_of(district)), len(books.open_of(district))
        if orders and is_open and orders - is_open < 2:
            yield f"{district} has {orders} orders, of which {is_open} are open"


def a12(books):
    """A customer's balance and payments are what was delivered."""
    delivered = books.delivered_to()
    for customer, (balance, paid) in books.customers.items():
        if customer in delivered and balance + paid != delivered[customer]:
            said = f"{balance + paid}, and deliveries {delivered[customer]}"
            yield f"customer {customer} has balance and payments of {said}"


ASSERTIONS = [a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12]
