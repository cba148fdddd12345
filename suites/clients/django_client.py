"""Django: migrations of its own applications, a model with many types, the ORM, transactions,
locks and introspection, on psycopg 3."""

import datetime as dt
import os
import sys
import tempfile
from decimal import Decimal

import django
from django.conf import settings

# Migrations are made where they leave nothing behind.
written = tempfile.TemporaryDirectory()
sys.path.insert(0, written.name)

settings.configure(
    DATABASES={"default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": os.environ["PGDATABASE"],
        "USER": os.environ["PGUSER"],
        "PASSWORD": os.environ.get("PGPASSWORD", ""),
        "HOST": os.environ["PGHOST"],
        "PORT": os.environ["PGPORT"],
        "OPTIONS": {"sslmode": os.environ["PGSSLMODE"]},
    }},
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "django.contrib.sessions",
                    "shop"],
    MIGRATION_MODULES={"shop": "shop_migrations"},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    USE_TZ=True,
)
django.setup()

from django.contrib.auth.models import Group, Permission, User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import IntegrityError, connection, models, transaction  # noqa: E402
from django.db.models import Avg, Count, Exists, F, OuterRef, Sum, Window  # noqa: E402
from django.db.models.functions import Coalesce, Rank, TruncMonth  # noqa: E402
from shop.models import Author, Book  # noqa: E402

AT = dt.datetime(2024, 10, 27, 0, 30, tzinfo=dt.timezone.utc)


def equal(got, wanted):
    assert got == wanted, f"{got!r} instead of {wanted!r}"


def raises(kind, work):
    try:
        with transaction.atomic():
            work()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def migrations():
    os.mkdir(f"{written.name}/shop_migrations")
    open(f"{written.name}/shop_migrations/__init__.py", "w").close()
    call_command("makemigrations", "shop", verbosity=0)
    call_command("migrate", verbosity=0)
    equal(Permission.objects.count(), 28)
    user = User.objects.create_user("ann", password="secret")
    user.groups.add(Group.objects.create(name="readers"))
    assert User.objects.get(groups__name="readers").check_password("secret")
    call_command("migrate", "auth", "0008", verbosity=0)
    call_command("migrate", verbosity=0)


def schema():
    extra = models.IntegerField(default=7)
    extra.set_attributes_from_name("extra")
    wider = models.BigIntegerField(null=True)
    wider.set_attributes_from_name("extra")
    with connection.schema_editor() as editor:
        editor.add_field(Book, extra)
        editor.alter_field(Book, extra, wider)
    with connection.schema_editor() as editor:
        editor.remove_field(Book, wider)


def introspection():
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        assert {"shop_author", "shop_book", "shop_book_readers"} <= set(tables), tables
        constraints = connection.introspection.get_constraints(cursor, "shop_book")
        equal(constraints["book_title"]["columns"], ["author_id", "title"])
        assert constraints["book_price"]["check"]
        columns = [column.name for column in connection.introspection.get_table_description(cursor, "shop_book")]
        equal(columns[:4], ["id", "key", "title", "price"])
        sequences = connection.introspection.get_sequences(cursor, "shop_book")
        equal(sequences[0]["column"], "id")


def fill():
    authors = Author.objects.bulk_create([Author(name=f"author {i}") for i in range(5)])
    Book.objects.bulk_create(
        Book(author=author, title=f"Book {i}{n}", price=Decimal(10 * i + n) / 4, tags=[f"t{n}", "all"],
             published=AT + dt.timedelta(days=30 * n), doc={"n": n, "deep": {"list": [i, n]}},
             cover=bytes([i, n, 255]), length=dt.timedelta(hours=n))
        for i, author in enumerate(authors) for n in range(i))
    equal(Book.objects.count(), 10)


def queries():
    book = Book.objects.select_related("author").get(title="Book 43")
    equal((book.author.name, book.price, book.published, book.tags, bytes(book.cover), book.length, book.doc),
          ("author 4", Decimal("10.75"), AT + dt.timedelta(days=90), ["t3", "all"], b"\x04\x03\xff",
           dt.timedelta(hours=3), {"n": 3, "deep": {"list": [4, 3]}}))
    equal(Book.objects.filter(doc__deep__list__1=2, tags__contains=["all"]).count(), 2)
    totals = Author.objects.annotate(n=Count("books"), total=Coalesce(Sum("books__price"), Decimal(0)))
    equal([(a.n, a.total) for a in totals.order_by("name")][:3],
          [(0, Decimal(0)), (1, Decimal("2.5")), (2, Decimal("10.25"))])
    equal(Book.objects.aggregate(Avg("price"))["price__avg"], Decimal("7.75"))
    months = Book.objects.annotate(month=TruncMonth("published")).values_list("month").annotate(Count("id"))
    equal([n for _, n in months.order_by("month")], [4, 3, 2, 1])
    ranked = Book.objects.annotate(rank=Window(Rank(), partition_by="author", order_by=F("price").desc()))
    equal({book.title: book.rank for book in ranked}["Book 40"], 4)
    long = Book.objects.filter(author=OuterRef("pk"), length__gte=dt.timedelta(hours=2))
    equal(Author.objects.filter(Exists(long)).count(), 2)
    equal(len(Author.objects.prefetch_related("books").filter(name__icontains="AUTHOR")), 5)
    equal(sum(1 for _ in Book.objects.iterator(chunk_size=3)), 10)


def changes():
    Book.objects.filter(author__name="author 4").update(price=F("price") + 1)
    ann = User.objects.get(username="ann")
    Book.objects.get(title="Book 43").readers.add(ann)
    equal(ann.book_set.get().price, Decimal("11.75"))
    _, created = Author.objects.get_or_create(name="author 4")
    equal(created, False)
    Author.objects.bulk_create([Author(name="author 4"), Author(name="author 5")], ignore_conflicts=True)
    equal(Author.objects.count(), 6)


def transactions():
    with transaction.atomic():
        error = raises(IntegrityError, lambda: Author.objects.create(name="author 1"))
        equal(error.__cause__.sqlstate, "23505")
        Author.objects.create(name="after the savepoint")
    author = Author.objects.get(name="author 4")
    raises(IntegrityError, lambda: Book.objects.create(author=author, title="cheap", price=-1))
    raises(IntegrityError, lambda: Book.objects.create(author_id=10**6, title="lost", price=1))
    with transaction.atomic():
        Author.objects.select_for_update().get(name="author 1").delete()
        transaction.set_rollback(True)
    assert Author.objects.filter(name="author 1").exists()
    deleted, each = Author.objects.get(name="author 4").delete()
    equal((deleted, each["shop.Book"]), (6, 4))


def main():
    with connection.cursor():
        equal(connection.connection.pgconn.ssl_in_use, os.environ["PGSSLMODE"] != "disable")
    for part in (migrations, schema, introspection, fill, queries, changes, transactions):
        part()


main()
