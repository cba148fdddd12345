import django.db.models.deletion
from django.db import migrations, models


def key():
    return models.BigAutoField(auto_created=True, primary_key=True, serialize=False)


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [
        migrations.CreateModel(
            name="Item",
            fields=[
                ("id", key()),
                ("name", models.CharField(max_length=100)),
                ("stock", models.PositiveIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name="Voucher",
            fields=[
                ("id", key()),
                ("code", models.CharField(max_length=20, unique=True)),
                ("used", models.BooleanField(default=False)),
            ],
        ),
        migrations.CreateModel(
            name="Order",
            fields=[
                ("id", key()),
                ("customer", models.CharField(max_length=100)),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, to="shop.item"
                    ),
                ),
                (
                    "voucher",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        to="shop.voucher",
                    ),
                ),
            ],
        ),
    ]
