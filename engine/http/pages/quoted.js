// quoted.js - the same check as a program would ask for it: pure.

/** For a shell: nothing in it means anything. */
export function shellWord(text) {
    return `'${text.replaceAll("'", "'\\''")}'`;
}

/** For SQL, where standard_conforming_strings is on, as it is since PostgreSQL 9.1. */
export function sqlText(text) {
    return `'${text.replaceAll("'", "''")}'`;
}

export function asCurl(url, body) {
    return `curl ${shellWord(url)} -H 'Content-Type: application/json' \\\n     -d ${
        shellWord(JSON.stringify(body))}`;
}

export function asSql(body) {
    const named = [];
    if (body.payload !== undefined)
        named.push(`payload => ${sqlText(JSON.stringify(body.payload))}`);
    if (body.on_conflict)
        named.push(`conflict => ${sqlText(body.on_conflict)}`);
    if (body.tenant)
        named.push(`tenant => ${sqlText(body.tenant)}`);
    const first = [body.entity, body.key, body.job, body.check_at].map(sqlText);
    return `SELECT prescient.enqueue(${[...first, ...named].join(", ")});`;
}
