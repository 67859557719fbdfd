# listener_lib.sh - what the tests of listeners share: a job that emits, jobs that hear it, and what
# they have heard. Sourced.
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"

# emits ANSWER: a job `look` that answers with this object
emits() {
    echo "look = { plugin = \"exec\"; settings = { command = [ \"/bin/echo\", \"${1//\"/\\\"}\" ];
        answer = \"json\"; }; };"
}
# hears NAME [END]: a job NAME that adds what it is given to the file NAME.heard, and ends so
hears() {
    echo "$1 = { plugin = \"exec\"; settings = { dir = \"$PWD\"; command = [ \"sh\", \"-c\",
        \"line=\$(cat); echo \\\"\$line\\\" >>$1.heard; ${2:-:}\" ]; }; };"
}
runs() { "$P" --quiet run >run.out 2>run.err; CODE=$?; }
heard_alarm() { [ -s alarm.heard ] || { runs; [ -s alarm.heard ]; }; }
# heard_of NAME EXPRESSION: of the first document that the job NAME was given, as `d`
heard_of() {
    python3 -c 'import json, sys
d = json.loads(open(sys.argv[1] + ".heard").readline())
print(eval(sys.argv[2]))' "$1" "$2"
}
