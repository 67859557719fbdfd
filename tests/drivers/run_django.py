#!/usr/bin/python3
# run_django.py CASES - tests/drivers.sh runs it
import json
import os

import django
from django.conf import settings
from django.db import DatabaseError, connection, transaction

import values

KINDS = dict(values.KINDS, json=lambda text: json.dumps(json.loads(text)),
             jsonb=lambda text: json.dumps(json.loads(text)))


class Undone(Exception):
    pass


def run_case(flow, statement, params):
    found = None
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            if flow == "savepoint":
                try:
                    with transaction.atomic():
                        cursor.execute(values.REFUSED)
                except DatabaseError:
                    pass
            cursor.execute(statement, params)
            found = cursor.fetchone()[0]
            if flow == "rollback":
                raise Undone
    except Undone:
        pass
    return found


settings.configure(USE_TZ=True, TIME_ZONE=os.environ["PGTZ"], DATABASES={"default": {
    "ENGINE": "django.db.backends.postgresql", "NAME": os.environ["PGDATABASE"],
    "USER": os.environ["PGUSER"], "HOST": os.environ["PGHOST"], "PORT": os.environ["PGPORT"],
    "TIME_ZONE": os.environ["PGTZ"]}})
django.setup()
for name, flow, statement, params in values.cases(KINDS, "%s"):
    try:
        values.tell(name, run_case(flow, statement, params))
    except DatabaseError as error:
        values.tell_error(name, getattr(error.__cause__, "pgcode", None), error)
