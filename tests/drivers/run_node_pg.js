// run_node_pg.js CASES - tests/drivers.sh runs it
"use strict";
const { Client } = require("pg");
const { KINDS, REFUSED, cases, tell, tellError } = require("./cases.js");

async function runCase(client, { flow, statement, params }) {
  await client.query("BEGIN");
  try {
    if (flow === "savepoint") {
      await client.query("SAVEPOINT before");
      await client.query(REFUSED).catch(() => client.query("ROLLBACK TO SAVEPOINT before"));
    }
    const found = await client.query({ text: statement, values: params, rowMode: "array" });
    await client.query(flow === "rollback" ? "ROLLBACK" : "COMMIT");
    return found.rows[0][0];
  } catch (error) {
    await client.query("ROLLBACK");
    throw error;
  }
}

async function main() {
  const client = new Client();
  await client.connect();
  for (const one of cases(KINDS)) {
    try {
      tell(one.name, await runCase(client, one));
    } catch (error) {
      tellError(one.name, error);
    }
  }
  await client.end();
}
main();
