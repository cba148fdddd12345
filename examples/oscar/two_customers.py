"""A test of oscar with two requests at the same time: `last_item`, `voucher`, `merge` or `tabs`.

Requests go through Django's test client, that is, through the middleware and the views of oscar.
"""
import os
import sys
import threading

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "settings")
django.setup()

from django.conf import settings  # noqa: E402 (needs the settings)
from django.core.signing import Signer  # noqa: E402
from django.db import connection, connections  # noqa: E402
from django.test import Client  # noqa: E402
from django.urls import reverse  # noqa: E402
from oscar.core.loading import get_model  # noqa: E402

Basket = get_model("basket", "Basket")
Order = get_model("order", "Order")
StockRecord = get_model("partner", "StockRecord")
VoucherApplication = get_model("voucher", "VoucherApplication")


def at_once(request, *arguments):
    """The answers to requests that are made at the same time, each by a thread of its own."""
    answers = [None] * len(arguments)

    def ask(number):
        try:
            answers[number] = request(*arguments[number])
        finally:
            connections.close_all()

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(len(answers))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # What is asserted must be about the newest values; PostgreSQL has no other and ignores this.
    with connection.cursor() as cursor:
        cursor.execute("SET seriatim.reads = 'latest'")
    return answers


def pay(name):
    """Presses the button of the last page, to which `fill.py` has led the customer."""
    client = Client(raise_request_exception=False)
    client.cookies[settings.SESSION_COOKIE_NAME] = name * 8
    answer = client.post(reverse("checkout:preview"), {"action": "place_order"})
    sold = answer.headers.get("Location") == reverse("checkout:thank-you")
    return "sold" if sold else f"refused ({answer.status_code})"


def sign_in(name, basket):
    """A tab of a browser that has a basket: the customer signs in and is shown the basket."""
    client = Client(raise_request_exception=False)
    client.cookies[settings.OSCAR_BASKET_COOKIE_OPEN] = Signer().sign(basket)
    form = {
        "login-username": f"{name}@example.com",
        "login-password": "secret",
        "login-redirect_url": reverse("basket:summary"),
        "login_submit": "yes",
    }
    return client.post(reverse("customer:login"), form, follow=True).status_code


def last_item():
    answers = at_once(pay, ["ann"], ["bob"])
    lamp = StockRecord.objects.get(partner_sku="lamp")
    orders = Order.objects.count()
    assert answers.count("sold") == orders, f"{orders} orders: {answers}"
    assert orders == 1, f"{orders} customers have bought the last lamp: {answers}"
    assert lamp.num_allocated == 1, f"{lamp.num_allocated} of 1 lamp are allocated"


def voucher():
    answers = at_once(pay, ["cat"], ["dan"])
    uses = VoucherApplication.objects.count()
    assert uses == 1, f"a voucher for one use was used {uses} times: {answers}"
    reduced = Order.objects.filter(discounts__voucher_code="FREE").count()
    assert reduced == 1, f"{reduced} orders were reduced: {answers}"


def merge_baskets(name, expected):
    browser = Basket.open.get(owner=None).pk
    answers = at_once(sign_in, [name, browser], [name, browser])
    baskets = [
        {line.product.title: line.quantity for line in basket.lines.all()}
        for basket in Basket.open.filter(owner__username=name)
    ]
    assert baskets == [expected], f"{name} has {baskets}, not {[expected]}: {answers}"


TESTS = {
    "last_item": last_item,
    "voucher": voucher,
    "merge": lambda: merge_baskets("eve", {"book": 1, "pen": 2}),
    "tabs": lambda: merge_baskets("fay", {"pen": 2}),
}
TESTS[sys.argv[1] if len(sys.argv) > 1 else "last_item"]()
