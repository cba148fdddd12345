"""A test with two customers at the same time: `last_item` or `voucher`."""
import os
import sys
import threading

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "shop.settings")
django.setup()

from django.db import connections  # noqa: E402 (needs the settings)
from django.test import Client  # noqa: E402

from shop.models import Item, Order  # noqa: E402

PATHS = {"last_item": "/buy/1", "voucher": "/redeem/1/FREE"}


def visit(path, customer, answers):
    answers[customer] = Client().get(path, {"customer": customer}).status_code
    connections.close_all()


def main(path):
    answers = {}
    customers = [
        threading.Thread(target=visit, args=(path, name, answers)) for name in ("ann", "bob")
    ]
    for customer in customers:
        customer.start()
    for customer in customers:
        customer.join()
    assert sorted(answers.values()) == [200, 409], f"both were told the same: {answers}"
    sold = Order.objects.count()
    assert sold == 1, f"{sold} were sold of one"
    assert Item.objects.get(id=1).stock in (0, 1)


main(PATHS[sys.argv[1] if len(sys.argv) > 1 else "last_item"])
