#!/usr/bin/env bash
# etc.sh - the samples in etc/ are true: settings are accepted, the full file is what the program prints, commands exist.
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 2
ETC=$(realpath ../etc)
. ./lib.sh
JOBS=${P%/*}/jobs

for file in "$ETC"/*.cfg; do
    ok "etc/${file##*/} is accepted, its plug-ins load" "$P" --config "$file" --set plugin_dirs="$JOBS" config --check
done

# Folders depend on where the program stands. To bring the file up to date, write down what the program prints but for that line.
same_folders() { sed 's|^plugin_dirs = .*|plugin_dirs = ["/usr/local/lib/prescient/jobs"];|'; }
"$P" config --sample | same_folders >sample.cfg
ok "etc/prescient-full.cfg is what config --sample prints" diff -u "$ETC/prescient-full.cfg" sample.cfg

serves() { "$P" --config "$ETC/prescient-server$1.cfg" config --print | sed -n 's/^serve = //p'; }
is "server 1 of the split" "$(serves 1)" "[0, 30];"
is "server 2 of the split" "$(serves 2)" "[15, 45];"

# Each command line of cron and systemd, with --help at its end: the command and its options are known.
while read -r line; do
    ok "a sample runs: prescient $line" bash -c "'$P' $line --help >/dev/null"
done < <(sed -n 's|^[*0-9].*  prescient  prescient ||p' "$ETC/prescient.cron"; sed -n 's|^ExecStart=/usr/local/bin/prescient ||p' "$ETC"/*.service)

if command -v systemd-analyze >/dev/null; then
    for unit in "$ETC"/*.service "$ETC"/*.timer; do
        sed "s|/usr/local/bin/prescient|$P|; /^User=/d; /^Group=/d" "$unit" >"${unit##*/}"
    done
    ok "systemd accepts the units" systemd-analyze --man=no verify ./*.service ./*.timer
fi
