# statements.awk - makes C of the statements in store_DIALECT.sql: a struct of the parameters and
# one of the columns for each, tables of their names and types, and the text with all {words}
# replaced.
#   awk -v dialect=pg -v out=build/sql -f statements.awk migrations/pg/*.sql pass_counts.h \
#       store_pg.sql
# writes out/pg_statements.h and .c, and out/pg/NAME.sql, each of which psql -f takes alone.
#
#   -- forms: slot degraded     above all blocks: every form there is, in order
#   -- name: renew              a statement; its text follows, up to the next block
#   -- part: rows [rows_two]    SQL that is whole in itself, and that other blocks include: {rows}
#   -- forms: slot degraded     in a block: the statement comes in each combination of these forms.
#                               In the form `slot`, {rows} is the part rows_slot, if there is one
#   -- in: slot timestamptz, name text?         parameters, which the text calls :slot and :name
#   -- out: n int8, expires_us timestamptz      columns, in order; "?": may be NULL
#   -- report: writes prepared  may be asked for by name, with parameters and results as text
#   -- in: {counts int8}        a parameter, or a column, for each row of PASS_COUNTS; in the text
#                               {counts} is their names, {values_of_counts} the parameters,
#                               {added_counts} sets each to what it is and the parameter together
#   -- script                   several commands: cannot be prepared, and has no parameters
#
# A timestamptz is seconds in C, or microseconds when its name ends in _us; 0 is NULL where it may
# be. A name that is not declared, or that is declared and not used, is an error of the build.

function fail(what) { print "statements.awk: " FILENAME ": " what > "/dev/stderr"; failed = 1; exit 1 }
# Names that begin with SQLITE_ belong to the library.
function upper(name) { return (dialect == "sqlite" ? "STATEMENT_" : toupper(dialect) "_") toupper(name) }
function c_string(text, lines, i, n, s) {
    n = split(text, lines, "\n")
    for (i = 1; i <= n; i++) if (lines[i] != "") {
        gsub(/\\/, "&&", lines[i]); gsub(/"/, "\\\"", lines[i])
        s = s (s ? "\n" : "") "        \"" lines[i] "\\n\""
    }
    return s
}

BEGIN {
    # SQL type: name in C, type of a parameter, of a column
    type("int2", "INT2", "int16_t "); type("int4", "INT4", "int32_t "); type("int8", "INT8", "int64_t ")
    type("bool", "BOOL", "bool "); type("text", "TEXT", "const char *")
    type("uuid", "UUID", "const unsigned char *")
    type("timestamptz", "MOMENT", "int64_t "); type("json", "JSON", "const char *")
    type("float8", "FLOAT8", "double "); type("numeric", "NUMERIC", "const char *")
    type("int2[]", "INT2S", "struct sql_int2s "); type("int4[]", "INT4S", "struct sql_int4s ")
    type("int8[]", "INT8S", "struct sql_int8s "); type("text[]", "TEXTS", "struct sql_texts ")
    type("float8[]", "FLOAT8S", "struct sql_float8s "); type("bytea", "BYTES", "struct sql_bytes ")
    type("uuid[]", "UUIDS", "struct sql_uuids "); type("timestamptz[]", "MOMENTS", "struct sql_int8s ")
}
function joined(list, more) { sub(/, *$/, "", more); return list (list == "" ? "" : ", ") more }
# {counts int8} becomes "run int8, done int8, ...".
function with_counts(list, kind, all, i) {
    if (!match(list, /\{counts [a-z0-9?]+\}/)) return list
    kind = substr(list, RSTART + 8, RLENGTH - 9)
    for (i = 1; i <= ncounts; i++) all = all (i > 1 ? ", " : "") count[i] " " kind
    return substr(list, 1, RSTART - 1) all substr(list, RSTART + RLENGTH)
}
function type(sql, constant, c) { constant_of[sql] = constant; c_of[sql] = c }

# ---- reading --------------------------------------------------------------------------------

# The part `made`: functions, tables, views and sequences that the migrations make, as an array of
# texts. The part `made_objects`: all kinds, as rows (kind, name, forms, nth) in the order of the
# migrations, which schema.awk has expanded: a function of one name may have several forms.
FILENAME ~ /(^|\/)migrations\// {
    kinds = "(FUNCTION|TABLE|VIEW|SEQUENCE|DOMAIN|TRIGGER|INDEX)"
    if (match($0, "^(CREATE|DROP) (UNIQUE )?" kinds " [a-z0-9_.]+")) {
        thing = substr($0, RSTART, RLENGTH)
        sub(/ UNIQUE/, "", thing); sub(/prescient\./, "", thing)
        split(thing, word, " ")
        thing = tolower(word[2]) "', '" word[3]
        if (!(thing in forms_of)) object[++nobjects] = thing
        forms_of[thing] += word[1] == "CREATE" ? 1 : -1
    }
    if (match($0, /^ *CREATE (OR REPLACE )?(FUNCTION|TABLE|VIEW|SEQUENCE) prescient\.[a-z0-9_]+/)) {
        thing = substr($0, RSTART, RLENGTH); sub(/.*\./, "", thing)
        if (!(thing in is_made)) made_things = made_things (made_things ? ", " : "") "'" thing "'"
        is_made[thing] = 1
    }
    next
}
# The parts `counts`, `values_of_counts` and `added_counts`: what PASS_COUNTS of
# rules/pass_counts.h has.
FILENAME ~ /\.h$/ {
    if (match($0, /^    X\([a-z_]+,/)) {
        thing = substr($0, 7, RLENGTH - 7)
        count[++ncounts] = thing
        counts = counts (ncounts > 1 ? ", " : "") thing
        values_of_counts = values_of_counts (ncounts > 1 ? ", :" : ":") thing
        added_counts = added_counts (ncounts > 1 ? ",\n    " : "") thing " = coalesce(" thing ", 0) + :" thing
    }
    next
}
/^-- (name|part): / {
    block = $3
    if (block in body) fail("'" block "' is there twice")
    is_part[block] = $2 == "part:"
    body[block] = ""
    if (!is_part[block]) order[++nstatements] = block
    for (i = 4; i <= NF; i++) { same[$i] = block; body[$i] = ""; is_part[$i] = 1 }
    next
}
/^-- forms: / && block == "" {
    for (i = 3; i <= NF; i++) {
        bit[$i] = 2 ^ (i - 3)
        bits = bits "    " upper("form_" $i) " = " bit[$i] ",\n"
    }
    next
}
/^-- forms: / { forms[block] = substr($0, 11); next }
/^-- in: / { ins[block] = joined(ins[block], with_counts(substr($0, 8))); next }
/^-- out: / { outs[block] = joined(outs[block], with_counts(substr($0, 9))); next }
/^-- report/ { report[block] = " report " substr($0, 11) " "; next }
/^-- script$/ { script[block] = 1; next }
/^[ \t]*--/ || /^[ \t]*$/ { next }
block != "" { body[block] = body[block] $0 "\n" }

# ---- putting together -----------------------------------------------------------------------

function text_of(part) { return body[part in same ? same[part] : part] }

# The part for {word}: the one whose name has most of the forms `mask` behind the word.
function part_for(word, mask, n, sub_mask, i, name, bits, best, most, other) {
    most = -1
    for (sub_mask = 0; sub_mask < 2 ^ n; sub_mask++) {
        name = word; bits = 0
        for (i = 1; i <= n; i++) if (int(sub_mask / 2 ^ (i - 1)) % 2) {
            if (int(mask / 2 ^ (i - 1)) % 2 == 0) { bits = -9; break }
            name = name "_" form[i]; bits++
        }
        if (bits < 0 || !is_part[name]) continue
        if (bits == most && text_of(name) != text_of(best)) other = name
        if (bits > most) { most = bits; best = name; other = "" }
    }
    if (most < 0) fail("{" word "}, included in '" statement "', is no part")
    if (other) fail("{" word "}, included in '" statement "': both " best " and " other " fit")
    used_part[best] = 1
    return best
}
function expand(text, mask, n, done, word, part) {
    done = ""
    while (match(text, /\{[a-z_]+\}/)) {
        word = substr(text, RSTART + 1, RLENGTH - 2)
        part = text_of(part_for(word, mask, n))
        sub(/\n$/, "", part)
        done = done substr(text, 1, RSTART - 1)
        text = part substr(text, RSTART + RLENGTH)
    }
    return done text
}
# :name becomes $3 (PostgreSQL) or ?3 (SQLite); a cast (::) is left alone.
function number(text, done, name) {
    done = ""
    while (match(text, /:+[a-z][a-z0-9_]*/)) {
        name = substr(text, RSTART, RLENGTH)
        done = done substr(text, 1, RSTART - 1)
        text = substr(text, RSTART + RLENGTH)
        if (name ~ /^::/) { done = done name; continue }
        name = substr(name, 2)
        if (!((statement, name) in place)) fail("'" statement "' has no parameter '" name "'")
        used[statement, name] = 1
        done = done (dialect == "pg" ? "$" : "?") place[statement, name]
    }
    return done text
}
function is_whole(text, opening, closing) {
    gsub(/'[^']*'/, "", text)
    opening = gsub(/\(/, "", text); closing = gsub(/\)/, "", text)
    return opening == closing
}

# ---- writing --------------------------------------------------------------------------------

# Declares the fields of "name type, name type?" as a struct and a table of them; returns how many.
function fields(list, which, n, all, i, parts, name, sql, null, members, rows, c, constant) {
    n = list == "" ? 0 : split(list, all, / *, */)
    struct = dialect "_" statement "_" which
    types = ""
    for (i = 1; i <= n; i++) {
        if (split(all[i], parts, " ") != 2) fail("'" statement "': '" all[i] "' is not a name and a type")
        name = parts[1]; sql = parts[2]
        null = sub(/\?$/, "", sql)
        if (!(sql in c_of)) fail("'" statement "': no type '" sql "'")
        if (which == "in") place[statement, name] = i
        c = c_of[sql]; constant = constant_of[sql]
        if (constant ~ /^MOMENT/ && name ~ /_us$/) constant = constant "_US"
        if (which == "out" && sql == "uuid") members = members "    unsigned char " name "[16];\n"
        else members = members "    " c name ";\n"
        if (which == "out" && c == "const char *") members = members "    uint32_t " name "_len;\n"
        rows = rows sprintf("    { \"%s\", SQL_%s, %d, ", name, constant, null)
        rows = rows "offsetof(struct " struct ", " name ") },\n"
        types = types (i > 1 ? ", " : "") sql
    }
    if (n) header = header "struct " struct " {\n" members "};\n"
    header = header "#define " upper(statement "_" which) " " (n ? "struct " struct : "void") "\n"
    if (n) code = code "static const struct sql_field " struct "[] = {\n" rows "};\n"
    return n
}
function write_file(name, text, path) {
    path = out "/" dialect "/" name ".sql"
    gsub(/prescient_schema/, "prescient", text)
    sub(/\n$/, "", text)
    print "-- made from " FILENAME > path
    if (dialect == "pg" && is_prepared) {
        sub(/^EXPLAIN /, "", text)
        print "PREPARE " name (types == "" ? "" : " (" types ")") " AS" > path
    }
    print text ";" > path
    close(path)
}

# The place of each parameter has been noted by then. `mask`: which of its n forms.
function write_form(mask, n, name, i, text) {
    name = statement
    for (i = 1; i <= n; i++) if (int(mask / 2 ^ (i - 1)) % 2) name = name "_" form[i]
    text = number(expand(body[statement], mask, n))
    if (text == "") fail("'" statement "' has no text")
    is_prepared = !script[statement] && text ~ /^ *(SELECT|INSERT|UPDATE|DELETE|WITH|EXPLAIN)/
    write_file(name, text)
    enums = enums "    " upper(name) ",\n"
    rows = rows "    { \"" name "\",\n" c_string(text) ", \"" types "\",\n        " \
           sprintf("%s, %s, %d, %d, %s, %d, %d, %d, %d },\n", nin ? dialect "_" statement "_in" : "NULL",
                   nout ? dialect "_" statement "_out" : "NULL", nin, nout, form_bits,
                   report[statement] != "", report[statement] ~ / writes /,
                   report[statement] ~ / prepared /, script[statement])
}
function write_statement(n, i, mask, key, parts) {
    nout = fields(outs[statement], "out")
    nin = fields(ins[statement], "in")
    n = forms[statement] == "" ? 0 : split(forms[statement], form, " ")
    form_bits = n ? "" : "0"
    for (i = 1; i <= n; i++) {
        if (!(form[i] in bit) || (i > 1 && bit[form[i]] < bit[form[i - 1]]))
            fail("'" statement "': forms that the head of the file does not have in this order")
        form_bits = form_bits (i > 1 ? " | " : "") upper("form_" form[i])
    }
    for (mask = 0; mask < 2 ^ n; mask++) write_form(mask, n)
    for (key in place) {
        split(key, parts, SUBSEP)
        if (parts[1] == statement && !(key in used)) fail("'" statement "' does not use ':" parts[2] "'")
    }
}

END {
    if (failed) exit 1
    if (made_things) {
        body["made"] = "ARRAY[" made_things "]::text[]\n"
        is_part["made"] = used_part["made"] = 1
    }
    for (i = 1; i <= nobjects; i++)
        objects = objects sprintf("%s('%s', %d, %d)", i > 1 ? ",\n" : "", object[i], forms_of[object[i]], i)
    if (nobjects) { body["made_objects"] = "VALUES " objects "\n"; is_part["made_objects"] = 1 }
    if (ncounts) {
        body["counts"] = counts "\n"; body["values_of_counts"] = values_of_counts "\n"
        body["added_counts"] = added_counts "\n"
        is_part["counts"] = is_part["values_of_counts"] = is_part["added_counts"] = 1
    }
    for (b in body) if (is_part[b] && !is_whole(text_of(b))) fail("part '" b "' is not whole: parentheses")
    for (s = 1; s <= nstatements; s++) { statement = order[s]; write_statement() }
    for (b in body) if (is_part[b] && !(b in used_part)) fail("part '" b "' is included nowhere")
    made = "/* made from " FILENAME " by statements.awk */\n"
    all = dialect "_statements"
    size = toupper(all)
    file = out "/" all ".h"
    printf "%s#ifndef %s_H\n#define %s_H\n\n", made, size, size > file
    print "#include \"engine/store/statement.h\"\n" > file
    printf "enum %s_statement {\n%s    %s\n};\n", dialect, enums, size > file
    printf "enum %s_form {\n    %s,\n%s};\n\n", dialect, upper("form_plain"), bits > file
    printf "%s\nextern const struct sql_statement %s[%s];\n\n#endif\n", header, all, size > file
    file = out "/" all ".c"
    printf "%s#include \"%s.h\"\n\n%s\n", made, all, code > file
    printf "const struct sql_statement %s[%s] = {\n%s};\n", all, size, rows > file
}
