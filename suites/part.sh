# The part of the suites that ci.sh runs: an expression of pytest's -k, and labels of Django's
# tests. Sourced, never run. When it changes, expected.sh makes the lists anew.
sqlalchemy_part="not ComponentReflectionTest and not JSONTest and not BizarroCharacter"
django_part="basic bulk_create aggregation annotations expressions lookup transactions \
    select_for_update update delete constraints indexes introspection schema"
