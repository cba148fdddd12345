"""One item is left, and there is one voucher. Run once, after the migrations."""
import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "shop.settings")
django.setup()

from shop.models import Item, Voucher  # noqa: E402 (needs the settings)

Item.objects.create(id=1, name="the last lamp", stock=1)
Voucher.objects.create(code="FREE")
