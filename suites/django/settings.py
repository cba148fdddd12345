"""Settings of Django's tests: the two databases that they use, on the server of DATABASE_URL."""

import os

from psycopg.conninfo import conninfo_to_dict

server = conninfo_to_dict(os.environ["DATABASE_URL"])


def database(name):
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": server.get("user", ""),
        "PASSWORD": server.get("password", ""),
        "HOST": server.get("host", ""),
        "PORT": server.get("port", ""),
    }


DATABASES = {name: database(f"seriatim_{name}") for name in ("default", "other")}
SECRET_KEY = "a key that protects nothing"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
USE_TZ = False
TEST_RUNNER = "record.RecordingRunner"
