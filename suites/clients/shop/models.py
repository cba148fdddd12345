"""The models of an application, as a person would write them."""

import uuid

from django.contrib.auth.models import User
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Upper


class Author(models.Model):
    name = models.CharField(max_length=50, unique=True)


class Book(models.Model):
    key = models.UUIDField(default=uuid.uuid4, unique=True)
    author = models.ForeignKey(Author, models.CASCADE, related_name="books")
    title = models.TextField(db_index=True)
    price = models.DecimalField(max_digits=8, decimal_places=2)
    published = models.DateTimeField(null=True)
    doc = models.JSONField(default=dict)
    tags = ArrayField(models.CharField(max_length=10), default=list)
    cover = models.BinaryField(default=b"")
    length = models.DurationField(null=True)
    readers = models.ManyToManyField(User)

    class Meta:
        indexes = [models.Index(Upper("title"), name="book_upper_title")]
        constraints = [
            models.CheckConstraint(condition=Q(price__gte=0), name="book_price"),
            models.UniqueConstraint(fields=["author", "title"], name="book_title"),
        ]
