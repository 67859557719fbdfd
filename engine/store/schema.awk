# schema.awk - expands a file of migrations/: what it has once for several types of arguments
# becomes one text for each.
#   awk -f schema.awk migrations/pg/NAME.sql > build/sql/migrations/pg/NAME.sql
#
#   -- part: WORD [KIND ...]    the text of {WORD}, up to the next of these lines; in these KINDs
#   -- for each: A B, C D       what follows comes for A with C, A with D, B with C, B with D
#   -- end                      of parts, or of what is for each
#
# Between "for each" and "end", {WORD} is the part of that name: the one of a KIND that is being
# written, or else the one without a KIND. A part may include others. A line that has only a {WORD}
# gives its indent to all lines of the part; if the part is empty, the line goes. A {WORD} that is
# no part, and a part that nothing includes, are errors of the build. All other lines stay as they
# are.
#
# In migrations/pg, the lines of comment above a column in CREATE TABLE become its COMMENT, too.

function fail(what) { print "schema.awk: " FILENAME ": " what > "/dev/stderr"; failed = 1; exit 1 }

# The key of the part {word}, where the kinds `kind` are being written.
function part_for(word, i) {
    for (i = 1; i <= nkinds; i++) if ((word, kind[i]) in text_of) return word SUBSEP kind[i]
    if ((word, "") in text_of) return word SUBSEP ""
    fail("{" word "} is no part")
}
function with_indent(text, indent) {
    gsub(/\n/, "\n" indent, text)
    return indent text
}
function expand(text, lines, n, i, line, key, out, indent) {
    n = split(text, lines, "\n")
    for (i = 1; i <= n; i++) {
        line = lines[i]
        if (match(line, /^ *\{[a-z_]+\}$/)) {
            match(line, /\{/)
            indent = substr(line, 1, RSTART - 1)
            key = part_for(substr(line, RSTART + 1, length(line) - RSTART - 1))
            used[key] = 1
            if (text_of[key] != "") out = out with_indent(expand(text_of[key]), indent) "\n"
            continue
        }
        out = out expand_line(line) "\n"
    }
    sub(/\n$/, "", out)
    return out
}
function expand_line(line, done, key, rest) {
    while (match(line, /\{[a-z_]+\}/)) {
        rest = substr(line, RSTART + RLENGTH)
        done = done substr(line, 1, RSTART - 1)
        key = part_for(substr(line, RSTART + 1, RLENGTH - 2))
        used[key] = 1
        done = done expand(text_of[key])
        line = rest
    }
    return done line
}
# The block for each combination of one kind from lists[nth], lists[nth + 1], ...
function combine(nth, all, n, i) {
    if (nth > nlists) {
        nkinds = nlists
        print expand(block)
        return
    }
    n = split(lists[nth], all, " ")
    for (i = 1; i <= n; i++) {
        kind[nth] = all[i]
        combine(nth + 1)
    }
}

/^-- part: / {
    if (state == "each") fail("a part in what is for each")
    state = "part"
    nkeys = NF > 3 ? NF - 3 : 1
    for (i = 1; i <= nkeys; i++) {
        keys[i] = $3 SUBSEP (NF > 3 ? $(i + 3) : "")
        if (keys[i] in text_of) fail("the part {" $3 "} is there twice")
        text_of[keys[i]] = ""
    }
    empty = 1
    next
}
/^-- for each: / {
    state = "each"
    block = ""
    is_first = 1
    nlists = split(substr($0, 14), lists, / *, */)
    next
}
/^-- end$/ {
    if (state == "each") combine(1)
    if (state == "") fail("an end of nothing")
    state = ""
    next
}
state == "part" {
    for (i = 1; i <= nkeys; i++) text_of[keys[i]] = text_of[keys[i]] (empty ? "" : "\n") $0
    empty = 0
    next
}
state == "each" { block = block (is_first ? "" : "\n") $0; is_first = 0; next }

match($0, /^CREATE TABLE prescient\.[a-z_]+/) {
    table = substr($0, RSTART + 13, RLENGTH - 13)
    comments = words = ""
    in_columns = 1
}
table != "" && /^\)/ { in_columns = 0 }
table != "" && in_columns && /^    -- / { words = words (words == "" ? "" : " ") substr($0, 8); print; next }
table != "" && match($0, /^    [a-z_]+ /) && words != "" {
    gsub(/'/, "''", words)
    column = substr($0, 5, RLENGTH - 5)
    comments = comments "COMMENT ON COLUMN " table "." column " IS\n    '" words "';\n"
}
table != "" { words = "" }
{ print }
table != "" && /;$/ { printf "%s", comments; table = "" }

END {
    if (failed) exit 1
    if (state != "") fail("'-- " state "' without an end")
    for (key in text_of) if (!(key in used)) {
        split(key, pair, SUBSEP)
        fail("nothing includes the part {" pair[1] "} " pair[2])
    }
}
