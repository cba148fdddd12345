"""Settings of a shop that is as small as a shop can be. The database is the one of PG*."""
import os

SECRET_KEY = "not a secret"
ALLOWED_HOSTS = ["*"]
INSTALLED_APPS = ["shop"]
ROOT_URLCONF = "shop.urls"
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "HOST": os.environ.get("PGHOST", "127.0.0.1"),
        "PORT": os.environ.get("PGPORT", "5432"),
        "USER": os.environ.get("PGUSER", "postgres"),
        "PASSWORD": os.environ.get("PGPASSWORD", ""),
        "NAME": os.environ.get("PGDATABASE", "postgres"),
    }
}
# How buying guards against others who buy at the same time: not at all, or in one of three ways.
GUARD = os.environ.get("SHOP_GUARD", "none")
if GUARD == "serializable":
    from django.db.backends.postgresql.psycopg_any import IsolationLevel

    DATABASES["default"]["OPTIONS"] = {"isolation_level": IsolationLevel.SERIALIZABLE}
