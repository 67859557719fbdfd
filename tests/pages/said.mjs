// said.mjs curl URL BODY | sql BODY - what the page of a new check offers to copy.
import { asCurl, asSql } from "../../engine/http/pages/quoted.js";

const [how, ...given] = process.argv.slice(2);
const body = JSON.parse(given.pop());
console.log(how === "curl" ? asCurl(given[0], body) : asSql(body));
