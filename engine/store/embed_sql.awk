# embed_sql.awk - turns .sql files into C strings.
#   engine/store/store_NAME.sql: each "-- name: WORD" block becomes a row of
#       `struct sql_block sql_NAME[]`
#   bench/NAME.sql: the same
#   build/sql/migrations/NAME/NNNN_what.sql, as schema.awk has expanded it: each file becomes a row
#       of `struct sql_migration migrations_NAME[]`, in order
# Lines that are only a comment are left out of blocks, and kept in migrations (they are stored with
# the schema). A "-- part: WORD" block is no row: later blocks of its file include it as {WORD}.

function include_parts(s, p, text) {
    for (p in part_text) {
        text = part_text[p]
        gsub(/&/, "\\\\&", text)
        gsub("[{]" p "[}]", text, s)
    }
    return s
}
function c_strings(s, lines, n, i, out) {
    n = split(s, lines, "\n")
    for (i = 1; i <= n; i++) out = out c_string(lines[i]) "\n"
    return out
}
function c_string(s) { gsub(/\\/, "&&", s); gsub(/"/, "\\\"", s); return "    \"" s "\\n\"" }
function family(path, a, n) {
    n = split(path, a, "/")
    if (path ~ /migrations\//) return a[n - 1]
    sub(/^store_/, "", a[n])
    sub(/\.sql$/, "", a[n])
    return a[n]
}

FNR == 1 {
    is_migration = FILENAME ~ /migrations\//
    name = family(FILENAME)
    if (is_migration) {
        n = split(FILENAME, parts, "/")
        file = parts[n]; sub(/\.sql$/, "", file)
        version = file; sub(/_.*/, "", version)
        m[name] = m[name] "    { " (version + 0) ", \"" file "\",\n"
        open_migration[name] = 1
        nmig++; order_m[nmig] = name
    }
    block = part = ""
    delete part_text
}
is_migration {
    m[name] = m[name] c_string($0) "\n"
    last_of[FILENAME] = 1
    next
}
/^-- part: / {
    part = $3
    block = ""
    next
}
/^-- name: / {
    block = $3
    part = ""
    nb[name]++
    b[name] = b[name] (nb[name] > 1 ? "    },\n" : "") "    { \"" block "\",\n"
    next
}
/^[ \t]*--/ || /^[ \t]*$/ { next }
part != "" { part_text[part] = part_text[part] (part_text[part] == "" ? "" : "\n") include_parts($0) }
block != "" { b[name] = b[name] c_strings(include_parts($0)) }

# A migration's row is closed when the next one of its family begins; gather and close here.
END {
    print "/* made from the .sql files by embed_sql.awk */"
    print "#include <stddef.h>"
    print "#include \"engine/store/embedded_sql.h\"\n"
    for (f in b) printf "const struct sql_block sql_%s[] = {\n%s    },\n    { NULL, NULL } };\n\n", f, b[f]
    for (f in m) {
        text = m[f]
        count = gsub(/    \{ [0-9]+, "/, "    },\n&", text)
        sub(/^    \},\n/, "", text)
        printf "const struct sql_migration migrations_%s[] = {\n%s    },\n", f, text
        printf "    { 0, NULL, NULL } };\n\n"
    }
}
