#!/usr/bin/python3
# run_psycopg2.py CASES - tests/drivers.sh runs it
import psycopg2
import psycopg2.extras
import json

import values

# psycopg2 has one wrapper for both; a dict alone is refused.
KINDS = dict(values.KINDS, json=lambda text: psycopg2.extras.Json(json.loads(text)),
             jsonb=lambda text: psycopg2.extras.Json(json.loads(text)))


def run(cursor, statement, params):
    cursor.execute(statement, params)
    return cursor.fetchone()[0]


def run_case(connection, flow, statement, params):
    with connection, connection.cursor() as cursor:
        if flow == "savepoint":
            cursor.execute("SAVEPOINT before")
            try:
                cursor.execute(values.REFUSED)
            except psycopg2.DataError:
                cursor.execute("ROLLBACK TO SAVEPOINT before")
        found = run(cursor, statement, params)
        if flow == "rollback":
            connection.rollback()
        return found


psycopg2.extras.register_uuid()
connection = psycopg2.connect("")
for name, flow, statement, params in values.cases(KINDS, "%s"):
    try:
        values.tell(name, run_case(connection, flow, statement, params))
    except psycopg2.Error as error:
        connection.rollback()
        values.tell_error(name, error.pgcode, error)
