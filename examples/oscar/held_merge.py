"""Two tabs merge a basket, and the first commits just between two statements of the second.

Shows on any PostgreSQL what `two_customers.py merge` meets only by chance: run it after `fill.py`.
"""
import os
import threading

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "settings")
django.setup()

from django.db import connections, transaction  # noqa: E402 (needs the settings)
from oscar.core.loading import get_model  # noqa: E402

Basket = get_model("basket", "Basket")
# How long a thread waits for the other one at most, in seconds.
PATIENCE = 60
second_has_listed = threading.Event()
first_has_committed = threading.Event()
merge_line = Basket.merge_line


def held_merge_line(basket, line, add_quantities=True):
    if threading.current_thread().name == "second":
        second_has_listed.set()
        first_has_committed.wait(PATIENCE)
    return merge_line(basket, line, add_quantities)


def request(browser):
    """What oscar's middleware does for a customer who has just signed in."""
    try:
        with transaction.atomic():
            found = Basket.objects.get(pk=browser, owner=None, status=Basket.OPEN)
            basket = Basket.open.get(owner__username="eve")
            basket.merge(found, add_quantities=False)
    finally:
        connections.close_all()


def main():
    Basket.merge_line = held_merge_line
    browser = Basket.open.get(owner=None).pk
    second = threading.Thread(target=request, args=(browser,), name="second")
    second.start()
    second_has_listed.wait(PATIENCE)
    first = threading.Thread(target=request, args=(browser,), name="first")
    first.start()
    first.join()
    first_has_committed.set()
    second.join()
    lines = Basket.open.get(owner__username="eve").lines.all()
    print({line.product.title: line.quantity for line in lines})


main()
