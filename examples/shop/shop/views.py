"""Buying, the way it is written every day: look, decide, change."""
import time

from django.conf import settings
from django.db import OperationalError, connection, transaction
from django.db.models import F
from django.http import HttpResponse

from .models import Item, Order, Voucher


def retried(view):
    """Tries again what the database refuses to serialize."""

    def again(request, **arguments):
        for attempt in range(20):
            try:
                return view(request, **arguments)
            except OperationalError as error:
                if getattr(error.__cause__, "sqlstate", None) not in ("40001", "40P01"):
                    raise
                connection.close_if_unusable_or_obsolete()
                time.sleep(0.002 * attempt)
        return HttpResponse("busy", status=503)

    return again if settings.GUARD == "serializable" else view


def rows(model):
    return model.objects.select_for_update() if settings.GUARD == "lock" else model.objects


@retried
def buy(request, item):
    with transaction.atomic():
        if settings.GUARD == "atomic":
            if not Item.objects.filter(id=item, stock__gt=0).update(stock=F("stock") - 1):
                return HttpResponse("sold out", status=409)
            Order.objects.create(item_id=item, customer=request.GET["customer"])
            return HttpResponse("sold")
        found = rows(Item).get(id=item)
        if found.stock < 1:
            return HttpResponse("sold out", status=409)
        found.stock -= 1
        found.save()
        Order.objects.create(item=found, customer=request.GET["customer"])
    return HttpResponse("sold")


@retried
def redeem(request, item, code):
    with transaction.atomic():
        if settings.GUARD == "atomic":
            if not Voucher.objects.filter(code=code, used=False).update(used=True):
                return HttpResponse("used", status=409)
            voucher = Voucher.objects.get(code=code)
        else:
            voucher = rows(Voucher).get(code=code)
            if voucher.used:
                return HttpResponse("used", status=409)
            voucher.used = True
            voucher.save()
        Order.objects.create(item_id=item, customer=request.GET["customer"], voucher=voucher)
    return HttpResponse("free of charge")
