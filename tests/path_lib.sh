# path_lib.sh - puts programs first in PATH that are often wrapped, as a wrapper takes several times
# as long to start: Debian's psql is a script in Perl, a python3 may be one of a shell. Sourced in
# the top folder.

python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null)
[ ! -x "$python" ] || PATH=$(dirname "$python"):$PATH
client=$(tests/pg_cluster.sh bin 2>/dev/null)/psql
[ ! -x "$client" ] || PATH=$(dirname "$client"):$PATH
export PATH
