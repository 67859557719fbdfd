#!/usr/bin/python3
# run_asyncpg.py CASES - tests/drivers.sh runs it
import asyncio

import asyncpg

import values

# JSON is a str to asyncpg, unless the application sets a codec.
KINDS = dict(values.KINDS, json=values.same, jsonb=values.same)


class Undone(Exception):
    pass


async def run_case(connection, flow, statement, params):
    found = None
    try:
        async with connection.transaction():
            if flow == "savepoint":
                try:
                    async with connection.transaction():
                        await connection.execute(values.REFUSED)
                except asyncpg.DataError:
                    pass
            found = await connection.fetchval(statement, *params)
            if flow == "rollback":
                raise Undone
    except Undone:
        pass
    return found


async def main():
    connection = await asyncpg.connect()
    for name, flow, statement, params in values.cases(KINDS, r"$\1"):
        try:
            values.tell(name, await run_case(connection, flow, statement, params))
        except asyncpg.PostgresError as error:
            values.tell_error(name, error.sqlstate, error)
        except asyncpg.InterfaceError as error:         # what it refuses itself
            values.tell_error(name, "driver", error)
    await connection.close()


asyncio.run(main())
