"""The shop before the customers of `two_customers.py` come. Run once, after the migrations.

| customers | what they are about to do |
|---|---|
| ann, bob | pay for a lamp, of which there is one |
| cat, dan | pay for a book, each with the voucher FREE, which may be used once |
| eve | sign in, with a pen in the basket of her browser and a book in the one she saved |
| fay | sign in, with a pen in the basket of her browser and no other basket |
"""
import datetime
import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "settings")
django.setup()

from django.contrib.auth.models import User  # noqa: E402 (needs the settings)
from django.contrib.sessions.models import Session  # noqa: E402
from django.test import Client  # noqa: E402
from django.urls import reverse  # noqa: E402
from django.utils.timezone import now  # noqa: E402
from oscar.apps.partner.strategy import Selector  # noqa: E402
from oscar.core.loading import get_model  # noqa: E402

Basket = get_model("basket", "Basket")
Benefit = get_model("offer", "Benefit")
Condition = get_model("offer", "Condition")
ConditionalOffer = get_model("offer", "ConditionalOffer")
Country = get_model("address", "Country")
Partner = get_model("partner", "Partner")
Product = get_model("catalogue", "Product")
ProductClass = get_model("catalogue", "ProductClass")
Range = get_model("offer", "Range")
UserAddress = get_model("address", "UserAddress")
Voucher = get_model("voucher", "Voucher")


def product(title, stock):
    made = Product.objects.create(
        title=title, product_class=ProductClass.objects.get(name="things")
    )
    Partner.objects.get(name="warehouse").stockrecords.create(
        product=made, partner_sku=title, price=10, num_in_stock=stock
    )
    return made


def voucher(code, usage):
    everything = Range.objects.create(name=code, includes_all_products=True)
    offer = ConditionalOffer.objects.create(
        name=code,
        offer_type=ConditionalOffer.VOUCHER,
        condition=Condition.objects.create(range=everything, type=Condition.COUNT, value=1),
        benefit=Benefit.objects.create(range=everything, type=Benefit.PERCENTAGE, value=50),
    )
    day = datetime.timedelta(days=1)
    Voucher.objects.create(
        name=code, code=code, usage=usage, start_datetime=now() - day, end_datetime=now() + day
    ).offers.add(offer)


def customer(name):
    user = User.objects.create_user(name, f"{name}@example.com", "secret")
    return user, UserAddress.objects.create(
        user=user,
        first_name=name,
        last_name="Customer",
        line1="1 High Street",
        line4="London",
        postcode="N1 9RT",
        country=Country.objects.get(iso_3166_1_a2="GB"),
    )


def posted(client, name, data, **where):
    """A form that the shop has taken; what it answers otherwise is a mistake of this program."""
    answer = client.post(reverse(name, kwargs=where), data)
    assert answer.status_code == 302, (name, answer.status_code)


def to_the_last_page(name, item, code=None):
    """A customer with the item in the basket, who has only to press the button that pays."""
    user, address = customer(name)
    client = Client()
    client.force_login(user, "oscar.apps.customer.auth_backends.EmailBackend")
    posted(client, "basket:add", {"quantity": 1}, pk=item.pk)
    if code:
        posted(client, "basket:vouchers-add", {"code": code})
    posted(
        client, "checkout:shipping-address", {"action": "ship_to", "address_id": address.pk}
    )
    client.get(reverse("checkout:shipping-method"))
    answer = client.get(reverse("checkout:preview"))
    assert answer.status_code == 200, f"{name} does not reach the last page: {answer}"
    # A test goes on from here: it knows a session by the name of its customer.
    Session.objects.filter(pk=client.session.session_key).update(session_key=name * 8)


def basket(item, quantity, owner=None):
    made = Basket.objects.create(owner=owner)
    made.strategy = Selector().strategy()
    made.add_product(item, quantity)


def main():
    Country.objects.create(
        iso_3166_1_a2="GB",
        iso_3166_1_a3="GBR",
        printable_name="United Kingdom",
        name="United Kingdom",
        is_shipping_country=True,
    )
    ProductClass.objects.create(name="things", track_stock=True, requires_shipping=True)
    Partner.objects.create(name="warehouse")
    lamp, book, pen = product("lamp", 1), product("book", 100), product("pen", 100)
    voucher("FREE", Voucher.SINGLE_USE)
    for name in ("ann", "bob"):
        to_the_last_page(name, lamp)
    for name in ("cat", "dan"):
        to_the_last_page(name, book, "FREE")
    eve, _ = customer("eve")
    basket(book, 1, eve)
    basket(pen, 2)
    customer("fay")


main()
