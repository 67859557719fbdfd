# embed_openapi.awk - makes one document of the parts in openapi/, as two C strings: what stands
# before the base path and what stands behind it.
#   document.json: what the document has beside paths and components
#   any other: an object of sections, each on lines of its own: "paths", and those of components
#       ("schemas", "parameters", "responses", ...); what stands in them is copied
# Each part is a JSON object of its own, indented by two blanks a level. -v version=...

function refuse(why) { print FILENAME ":" FNR ": " why > "/dev/stderr"; is_bad = 1; exit 1 }
function c_string(s) {
    gsub(/\\/, "&&", s)
    gsub(/"/, "\\\"", s)
    return "    \"" s "\\n\"\n"
}
function c_strings(s, lines, n, i, out) {
    sub(/\n$/, "", s)
    n = split(s, lines, "\n")
    for (i = 1; i <= n; i++) out = out c_string(lines[i])
    return out
}
# What stands in the section of an object, by so many blanks deeper than in its part.
function section_of(name, deeper, out) {
    out = text[name]
    if (deeper) { gsub(/\n/, "\n" deeper, out); out = deeper substr(out, 1, length(out) - length(deeper)) }
    return deeper "  \"" name "\": {\n" out deeper "  }"
}

FNR == 1 { is_document = FILENAME ~ /\/document\.json$/; section = "" }
/^[{}]$/ { next }
is_document { head = head $0 "\n"; next }
/^  "[A-Za-z]+": \{$/ {
    section = $1
    gsub(/[":]/, "", section)
    if (!(section in text)) { names[++n] = section; text[section] = "" }
    else if (text[section] != "") { sub(/\n$/, ",\n", text[section]) }
    next
}
/^  \},?$/ { section = ""; next }
section == "" || !/^    / { refuse("expected a section of paths or components, and 4 blanks in it") }
{ text[section] = text[section] $0 "\n" }

END {
    if (is_bad) exit 1
    for (i = 1; i <= n; i++)
        if (names[i] != "paths") parts = parts (parts == "" ? "" : ",\n") section_of(names[i], "  ")
    sub(/@version@/, version, head)
    sub(/\n$/, ",\n", head)
    whole = "{\n" head section_of("paths", "") ",\n  \"components\": {\n" parts "\n  }\n}\n"
    if (split(whole, halves, "@base_path@") != 2) refuse("document.json has no @base_path@, or two")
    print "/* made from the parts in openapi/ by embed_openapi.awk */"
    print "#include \"engine/http/openapi.h\"\n"
    before = c_strings(halves[1])
    sub(/\\n"\n$/, "\"\n", before)              # the base path stands in its line
    printf "const char openapi_before[] =\n%s    ;\n\n", before
    printf "const char openapi_behind[] =\n%s    ;\n", c_strings(halves[2])
}
