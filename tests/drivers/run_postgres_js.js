// run_postgres_js.js CASES - tests/drivers.sh runs it
"use strict";
const postgres = require("postgres");
const { KINDS, REFUSED, cases, tell, tellError } = require("./cases.js");

// max: one connection
const sql = postgres({ max: 1, onnotice: () => {} });
const json = (text) => sql.json(JSON.parse(text));
// An array is told what it is an array of, where a value does not say it.
const OIDS = { uuid: 2950, json: 114, jsonb: 3802 };
const array = (values, kind) => sql.array(values.map((v) => (kind in OIDS && v.value) || v), OIDS[kind]);
const kinds = { ...KINDS, json, jsonb: json, array };

class Undone extends Error {}

async function runCase({ flow, statement, params }) {
  let found;
  await sql.begin(async (tx) => {
    if (flow === "savepoint")
      await tx.savepoint((inner) => inner.unsafe(REFUSED)).catch(() => {});
    [[found]] = await tx.unsafe(statement, params).values();
    if (flow === "rollback")
      throw new Undone();
  }).catch((error) => { if (!(error instanceof Undone)) throw error; });
  return found;
}

async function main() {
  for (const one of cases(kinds)) {
    try {
      tell(one.name, await runCase(one));
    } catch (error) {
      tellError(one.name, error);
    }
  }
  await sql.end();
}
main();
