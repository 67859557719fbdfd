# http_lib.sh - what scripts share that try a job against the receiver tests/http_server.py, each
# check by `prescient try`. Sourced, with PLUGIN.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$ROOT/tests/jobs_lib.sh"

if grep -qw "$PLUGIN" "$(dirname "$P")/left_out"; then
    echo "ok - not tested: the job $PLUGIN is left out of this build"
    exit 0
fi

NOW=2030-01-01T00:05:00Z
SERVERS=()
trap 'kill "${SERVERS[@]}" 2>/dev/null; finish || exit 1' EXIT

# receiver FOLDER [CERTIFICATE KEY [CA]]: starts one and sets PORT
receiver() {
    mkdir "$1"
    python3 "$ROOT/tests/http_server.py" "$@" >"$1/out" 2>&1 &
    SERVERS+=($!)
    for _ in {1..500}; do [ ! -e "$1/port" ] || break; sleep 0.02; done
    PORT=$(cat "$1/port")
}

# job SETTINGS: the only job, `it`
job() {
    printf 'plugin_dirs = ["%s"];\nhorizon = "30d";\ntimeout = "%s";\njobs = { it = {
        plugin = "%s"; settings = { %s }; }; };\n' "$(dirname "$P")/jobs" "${TIMEOUT:-20s}" "$PLUGIN" "$1" \
        >prescient.cfg
    chmod 600 prescient.cfg
}
# tried WHAT EXPRESSION EXPECTED [PAYLOAD]: of the JSON of prescient try
tried() {
    timeout 60 "$P" --store sqlite:none.db --now $NOW try it orders "${KEY:-42}" --json \
        --payload "${4:-{\}}" >.tried 2>.err
    is "$1" "$(json "$2" <.tried)" "$3"
}
# last EXPRESSION: of the last request to the receiver FOLDER
last() { tail -n 1 "${FOLDER:-plain}/requests" | json "$1"; }
requests() { cat "${FOLDER:-plain}/requests" 2>/dev/null | wc -l; }

# certificate NAME SUBJECT ALTERNATIVES [OPTION...]: NAME.pem and NAME.key, signed by ca.pem, which
# is made first. The options are those of openssl ca
authority() {
    openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -subj /CN=ca -days 30 -out ca.pem 2>/dev/null
    : >index; echo 01 >serial
    printf '[ca]\ndefault_ca=a\n[a]\ndatabase=index\nserial=serial\nnew_certs_dir=.\ncertificate=ca.pem
private_key=ca.key\ndefault_md=sha256\npolicy=p\nunique_subject=no\n[p]\ncommonName=supplied\n' >ca.cnf
}
certificate() {
    local name=$1 subject=$2 alternatives=$3; shift 3
    [ -e ca.pem ] || authority
    openssl req -newkey rsa:2048 -nodes -keyout "$name.key" -subj "/CN=$subject" -out "$name.csr" 2>/dev/null
    printf 'subjectAltName=%s\n' "$alternatives" >ext
    openssl ca -batch -config ca.cnf -in "$name.csr" -out "$name.pem" -extfile ext -notext -days 30 "$@" \
        2>ca.err || sed 's/^/# /' ca.err
}
