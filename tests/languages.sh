#!/usr/bin/env bash
# languages.sh - each snippet of docs/languages.md places an order with its check, in its language,
# where the driver is installed. DRIVERS_FETCH=1 (`make drivers`) fetches the drivers of Node.
# not instrumented
# night: drivers of several languages
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$ROOT/tests/drivers/lib.sh"
PAGE=$ROOT/docs/languages.md

trap 'stop_loopback; finish || exit 1' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
start_loopback || { echo "# skipped: no PostgreSQL server here"; exit 0; }
export PGHOST=127.0.0.1 PGPORT=$PORT PGDATABASE=shop
psql -qX -U postgres -d postgres -v ON_ERROR_STOP=1 -c "CREATE DATABASE shop" || exit 1
export PRESCIENT_STORE="postgresql://postgres@127.0.0.1:$PORT/shop"
ok "the schema" "$P" init
psql -qX -U postgres -v ON_ERROR_STOP=1 -c "CREATE ROLE shop LOGIN IN ROLE prescient_enqueuer" \
    -c "CREATE TABLE orders (id bigint PRIMARY KEY, shipped_at timestamptz)" \
    -c "GRANT SELECT, INSERT ON orders TO shop" || exit 1
export PGUSER=shop

# snippet NAME: the block under the line that names it
snippet() {
    awk -v name="$1" '
        /^<!-- languages.sh: / { mine = index($0 " ", " " name " ") }
        /^```/ { if (inside) exit; inside = mine; next }
        inside' "$PAGE"
}

# around_NAME NAME NUMBER: the program on stdout: the snippet, and around it a connection and the
# number of the order.
around_psycopg2() {
    printf '%s\n' "import ${1/psycopg3/psycopg} as driver" "from datetime import timedelta" \
        'db = driver.connect("")' "number = $2"
    snippet "$1"
}
around_psycopg3() { around_psycopg2 "$@"; }
around_django() {
    cat <<END_OF_IT
import os
from datetime import timedelta
import django
from django.conf import settings
from django.db import connection, models, transaction
from django.utils import timezone
settings.configure(USE_TZ=True, DATABASES={"default": {"ENGINE": "django.db.backends.postgresql",
    "NAME": "shop", "USER": "shop", "HOST": os.environ["PGHOST"], "PORT": os.environ["PGPORT"]}})
django.setup()
class Order(models.Model):
    id = models.BigIntegerField(primary_key=True)
    shipped_at = models.DateTimeField(null=True)
    class Meta:
        app_label = "shop"
        db_table = "orders"
number = $2
END_OF_IT
    snippet django
}
around_node_pg() {
    printf '%s\n' 'const { Client } = require("pg");' "async function place(db, number) {"
    snippet node_pg
    printf '%s\n' "}" "const db = new Client();" \
        "db.connect().then(() => place(db, $2)).then(() => db.end());"
}
around_postgres_js() {
    printf '%s\n' 'const sql = require("postgres")();' "async function place(number) {"
    snippet postgres_js
    printf '%s\n' "}" "place($2).then(() => sql.end());"
}
around_ruby() { printf '%s\n' 'require "pg"' "db = PG.connect" "number = $2"; snippet ruby; }
around_lib_pq() {
    cat <<END_OF_IT
package main

import (
	"database/sql"
	"time"

	_ "github.com/lib/pq"
)

func place(tx *sql.Tx, number int64) error {
$(snippet lib_pq)
}

func main() {
	db, err := sql.Open("postgres", "sslmode=disable")
	if err != nil {
		panic(err)
	}
	tx, err := db.Begin()
	if err != nil {
		panic(err)
	}
	if err := place(tx, $2); err != nil {
		panic(err)
	}
	if err := tx.Commit(); err != nil {
		panic(err)
	}
}
END_OF_IT
}
around_java() {
    cat <<END_OF_IT
import java.sql.*;
import java.time.OffsetDateTime;

class Place {
    public static void main(String[] args) throws SQLException {
        long number = $2;
        String url = "jdbc:postgresql://127.0.0.1:$PORT/shop";
        try (Connection db = DriverManager.getConnection(url, "shop", "")) {
            db.setAutoCommit(false);
            db.createStatement().executeUpdate("INSERT INTO orders (id) VALUES (" + number + ")");
$(snippet java)
            db.commit();
        }
    }
}
END_OF_IT
}

python_run() { /usr/bin/python3 "$1"; }
node_run() { node "$1"; }
ruby_run() { ruby "$1"; }
go_run() { go_build ./place "$1" && ./place; }
java_run() { java -cp "$JAR" "$1"; }

# snippet, language, the file that it is run from
number=50
while read -r name language file; do
    number=$((number + 1))
    if ! "${language}_ready" "$name"; then
        echo "# skipped: the snippet of $name; its driver is not installed"
        continue
    fi
    [ -n "$(snippet "$name")" ] || { FAILED=1; echo "not ok - the page has a snippet for $name"; continue; }
    "around_$name" "$name" "$number" >"$file"
    ok "$name: the snippet runs" "${language}_run" "$file" </dev/null
    is "$name: order $number has its check" \
        "$(psql -qXAt -U postgres -c "SELECT c.entity_name, c.job_exec,
                  round(extract(epoch FROM c.first_check_at - now()) / 3600)
             FROM orders o JOIN prescient.future_job c ON c.entity_key = o.id::text
            WHERE o.id = $number")" "orders|unshipped_order|3"
done <<'END_OF_IT'
psycopg2    python  place.py
psycopg3    python  place.py
django      python  place.py
node_pg     node    place.js
postgres_js node    place.js
ruby        ruby    place.rb
lib_pq      go      place.go
java        java    Place.java
END_OF_IT
