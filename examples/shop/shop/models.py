from django.db import models


class Item(models.Model):
    name = models.CharField(max_length=100)
    stock = models.PositiveIntegerField()


class Voucher(models.Model):
    code = models.CharField(max_length=20, unique=True)
    used = models.BooleanField(default=False)


class Order(models.Model):
    item = models.ForeignKey(Item, on_delete=models.PROTECT)
    customer = models.CharField(max_length=100)
    voucher = models.ForeignKey(Voucher, null=True, on_delete=models.PROTECT)
