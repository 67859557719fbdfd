// cases.js - what the programs in JavaScript share: a case as a line, and values as JavaScript has
// them (tests/drivers/README.md describes lines and kinds).
"use strict";
const fs = require("node:fs");

const REFUSED = "SELECT prescient.enqueue('', '', '', '')";
const same = (text) => text;
const KINDS = {
  smallint: Number, int: Number, bigint: BigInt, text: same, uuid: same,
  timestamptz: (text) => new Date(text), json: JSON.parse, jsonb: JSON.parse,
};

function valueOf(param, kinds) {
  const at = param.indexOf("=");
  const kind = param.slice(0, at), text = param.slice(at + 1);
  if (!kind.endsWith("[]"))
    return kinds[kind](text);
  const element = kind.slice(0, -2);
  const values = text.split("|").map((part) => kinds[element](part));
  return kinds.array ? kinds.array(values, element) : values;
}

function* cases(kinds) {
  for (const line of fs.readFileSync(process.argv[2], "utf8").trimEnd().split("\n")) {
    const [name, flow, statement, ...params] = line.split("\t");
    yield { name, flow, statement, params: params.map((param) => valueOf(param, kinds)) };
  }
}

const tell = (name, found) => console.log(`${name}\t${found}`);

function tellError(name, error) {
  const state = /^[0-9A-Z]{5}$/.test(error.code ?? "") ? error.code : "driver";
  console.log(`${name}\terror\t${state}\t${error.message.replace(/\s+/g, " ")}`);
}

module.exports = { KINDS, REFUSED, cases, tell, tellError };
