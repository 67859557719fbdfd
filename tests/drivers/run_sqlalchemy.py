#!/usr/bin/python3
# run_sqlalchemy.py CASES - tests/drivers.sh runs it
import json

import sqlalchemy
from sqlalchemy.dialects import postgresql

import values

TYPES = {"json": postgresql.JSON, "jsonb": postgresql.JSONB, "uuid": postgresql.UUID(as_uuid=True),
         "json[]": postgresql.ARRAY(postgresql.JSON), "jsonb[]": postgresql.ARRAY(postgresql.JSONB)}
KINDS = dict(values.KINDS, json=json.loads, jsonb=json.loads)


def cases():
    """A value of a type that SQLAlchemy has its own word for is bound with it."""
    with open(values.sys.argv[1], encoding="utf-8") as lines:
        types = [[p.split("=")[0] for p in line.split("\t")[3:]] for line in lines]
    for n, (name, flow, statement, params) in enumerate(values.cases(KINDS, r":p\1")):
        bound = [sqlalchemy.bindparam(f"p{i}", value, type_=TYPES.get(kind))
                 for i, (kind, value) in enumerate(zip(types[n], params), 1)]
        yield name, flow, sqlalchemy.text(statement.replace("::", r"\:\:")).bindparams(*bound)


def run_case(engine, flow, statement):
    with engine.connect() as connection, connection.begin() as transaction:
        if flow == "savepoint":
            try:
                with connection.begin_nested():
                    connection.execute(sqlalchemy.text(values.REFUSED))
            except sqlalchemy.exc.DataError:
                pass
        found = connection.execute(statement).scalar()
        if flow == "rollback":
            transaction.rollback()
        return found


engine = sqlalchemy.create_engine("postgresql://")
for name, flow, statement in cases():
    try:
        values.tell(name, run_case(engine, flow, statement))
    except sqlalchemy.exc.DBAPIError as error:
        values.tell_error(name, error.orig.pgcode, error.orig)
