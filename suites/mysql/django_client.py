"""Django's MySQL backend: all migrations of its own applications, and the ORM."""
import os

import django
import pymysql
from django.conf import settings

# Django wants mysqlclient; PyMySQL takes its place.
pymysql.version_info = (2, 2, 7, "final", 0)
pymysql.install_as_MySQLdb()
settings.configure(
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.mysql", "NAME": os.environ["MYSQL_DATABASE"],
            "HOST": os.environ["MYSQL_HOST"], "PORT": os.environ["MYSQL_TCP_PORT"],
            "USER": os.environ.get("MYSQL_USER", "root"), "PASSWORD": os.environ.get("MYSQL_PWD", ""),
        }
    },
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions"],
    USE_TZ=True, DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
)
django.setup()

from django.contrib.auth.models import Group, User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import IntegrityError, connection, transaction  # noqa: E402
from django.db.models import Count, F, Q  # noqa: E402

call_command("migrate", verbosity=0)
assert "auth_user" in connection.introspection.table_names()
ann = User.objects.create_user("ann", "ann@example.org", "secret")
ben = User.objects.create_user("ben", is_staff=True)
group = Group.objects.create(name="editors")
ann.groups.add(group)
assert ann.check_password("secret")
assert list(User.objects.filter(Q(groups=group) | Q(is_staff=True)).order_by("username")) == [ann, ben]
assert User.objects.filter(username__contains="e").count() == 1
assert User.objects.filter(username__startswith="a").exists()
assert Group.objects.annotate(n=Count("user")).get().n == 1
with transaction.atomic():
    locked = User.objects.select_for_update().get(pk=ann.pk)
    locked.first_name = "Ann"
    locked.save()
try:
    with transaction.atomic():
        User.objects.create_user("ann")
    raise AssertionError("a duplicate was let in")
except IntegrityError:
    pass
User.objects.filter(pk=ben.pk).update(last_name=F("username"))
assert User.objects.get(pk=ben.pk).last_name == "ben"
Group.objects.bulk_create([Group(name="a"), Group(name="b")])
assert Group.objects.count() == 3
made, is_new = Group.objects.get_or_create(name="a")
assert not is_new
assert User.objects.aggregate(n=Count("id"))["n"] == 2
ann.delete()
assert group.user_set.count() == 0
assert User.objects.dates("date_joined", "year").count() == 1
print("django: ok")
