# embed_pages.awk - turns the files of engine/http/pages/ into a C table.
#   sha256sum FILE... | awk -f embed_pages.awk - FILE...
# Each file is served at /assets/NAME. index.html is served at the path of each page_NAME.js
# instead: /NAME, and / of page_home.js. All are text whose last line has an end.

function c_string(s) { gsub(/\\/, "&&", s); gsub(/"/, "\\\"", s); return "    \"" s "\\n\"" }
function base(path) { sub(/.*\//, "", path); return path }
function word(name) { gsub(/[^A-Za-z0-9]/, "_", name); return "of_" name }
function row(path, name, ending) {
    ending = name
    sub(/.*\./, "", ending)
    if (!(ending in content)) {
        print "embed_pages.awk: " name ": no content type is known for it" > "/dev/stderr"
        failed = 1
    }
    printf "    { \"%s\", %s, \"\\\"%s\\\"\", %s, sizeof %s - 1 },\n", path, content[ending],
        substr(hash[name], 1, 32), word(name), word(name)
}

BEGIN {
    content["html"] = "CONTENT_HTML"
    content["css"] = "CONTENT_CSS"
    content["js"] = "CONTENT_SCRIPT"
    content["svg"] = "CONTENT_SVG"
    print "/* made from engine/http/pages/ by embed_pages.awk */"
    print "#include \"engine/http/page.h\"\n"
}
FILENAME == "-" || FILENAME == "" { hash[base($2)] = $1; next }
FNR == 1 {
    if (files) print "    ;\n"
    name[++files] = base(FILENAME)
    print "static const char " word(name[files]) "[] ="
}
{ print c_string($0) }
END {
    print "    ;\n\nconst struct page page_table[] = {"
    for (i = 1; i <= files; i++) {
        page = name[i]
        if (page != "index.html") row("/assets/" page, page)
        if (page !~ /^page_.*[.]js$/) continue
        gsub(/^page_|[.]js$/, "", page)
        row(page == "home" ? "/" : "/" page, "index.html")
    }
    print "};\n\nconst int pages = sizeof page_table / sizeof *page_table;"
    exit failed
}
