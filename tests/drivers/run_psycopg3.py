#!/usr/bin/python3
# run_psycopg3.py CASES - tests/drivers.sh runs it
import json

import psycopg
from psycopg.types.json import Json, Jsonb

import values

KINDS = dict(values.KINDS, json=lambda text: Json(json.loads(text)),
             jsonb=lambda text: Jsonb(json.loads(text)))


def run_case(connection, flow, statement, params):
    with connection.transaction(force_rollback=flow == "rollback"):
        if flow == "savepoint":
            try:
                with connection.transaction():
                    connection.execute(values.REFUSED)
            except psycopg.DataError:
                pass
        return connection.execute(statement, params).fetchone()[0]


connection = psycopg.connect("", autocommit=True)
for name, flow, statement, params in values.cases(KINDS, "%s"):
    try:
        values.tell(name, run_case(connection, flow, statement, params))
    except psycopg.Error as error:
        values.tell_error(name, error.sqlstate, error)
