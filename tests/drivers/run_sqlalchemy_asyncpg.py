#!/usr/bin/python3
# run_sqlalchemy_asyncpg.py CASES - tests/drivers.sh runs it
import asyncio

import sqlalchemy
from sqlalchemy.ext.asyncio import create_async_engine

import values

# JSON is a str to asyncpg. A list has to be told what it is one of, or asyncpg is given text.
KINDS = dict(values.KINDS, json=values.same, jsonb=values.same)


async def run_case(engine, flow, statement):
    async with engine.connect() as connection, connection.begin() as transaction:
        if flow == "savepoint":
            try:
                async with connection.begin_nested():
                    await connection.execute(sqlalchemy.text(values.REFUSED))
            except sqlalchemy.exc.DBAPIError:
                pass
        found = (await connection.execute(statement)).scalar()
        if flow == "rollback":
            await transaction.rollback()
        return found


async def main():
    engine = create_async_engine("postgresql+asyncpg://")
    for name, flow, statement, params in values.cases(KINDS, r":p\1"):
        bound = {f"p{i}": value for i, value in enumerate(params, 1)}
        text = sqlalchemy.text(statement.replace("::", r"\:\:")).bindparams(**bound)
        try:
            values.tell(name, await run_case(engine, flow, text))
        except sqlalchemy.exc.DBAPIError as error:
            values.tell_error(name, getattr(error.orig, "sqlstate", None) or "driver", error.orig)
    await engine.dispose()


asyncio.run(main())
