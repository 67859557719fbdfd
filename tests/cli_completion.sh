#!/usr/bin/env bash
# What shells complete, asked of the shells themselves: each command, its options and its words. A
# shell that is not here is named.
. "$(dirname "$0")/lib.sh"

for shell in bash zsh fish; do "$P" completion $shell >$shell.completion; done
fails_with 2 "completion: found 'tcsh', expected bash, zsh or fish" "$P" completion tcsh
"$P" help --json >help.json
commands=$(json '"\n".join(sorted(c["name"] for c in j["commands"]))' <help.json)
# options COMMAND: its long options and those of every command, one a line, as --help has them
options() {
    json "'\n'.join(sorted({'--' + o['name'] for o in j['options'] +
        [c for c in j['commands'] if c['name'] == '$1'][0]['options']}))" <help.json
}

json "'\n'.join(' '.join([c['name'], o['name']] + sorted(o['words']))
    for c in j['commands'] for o in c['options'] + j['options'] if o['words']
    and (o['name'] != 'log-level' or c['name'] == 'list'))" <help.json >words
ok "there are options with words" [ "$(wc -l <words)" -ge 8 ]
is "as those who check them have it" "$(grep '^runs outcome ' words)" \
    "runs outcome again bad_answer crashed deferred done failed job_broken skipped timeout"
touch some.cfg

# ---- bash ----

cat >ask.bash <<'BASH'
source bash.completion
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) default=1
compopt() { [ "$1 $2" != "+o default" ] || default=; }
_prescient
# as readline does where nothing was found, unless it was told not to
[ ${#COMPREPLY[@]} != 0 ] || [ ! "$default" ] || COMPREPLY=($(compgen -f -- "${!#}"))
printf '%s\n' "${COMPREPLY[@]}" | sort
BASH
ask_bash() { bash --norc ask.bash prescient "$@"; }

# ---- zsh: a shell of its own on a pseudo-terminal, whose compadd prints what it is given ----

cat >inside.zsh <<'ZSH'
PROMPT=
autoload -Uz compinit && compinit -u -D
source zsh.completion
bindkey '^M' undefined; bindkey '^J' undefined; bindkey '^I' complete-word
hit-end() { print; print -r -- END }
comppostfuncs=(hit-end exit)
compadd() {
    if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
    local -a hits
    builtin compadd -A hits "$@"
    print
    for hit in $hits; do print -r -- "HIT $hit"; done
}
print READY
ZSH
cat >ask.zsh <<'ZSH'
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z 'source inside.zsh'
repeat 50; do zpty -r z line || exit 2; [[ $line == READY* ]] && break; done
zpty -w -n z "$*"$'\t'
repeat 2000; do zpty -r z line || break; print -r -- ${line//$'\r'/}; [[ $line == *END* ]] && break; done
ZSH
ask_zsh() { timeout 60 zsh -f ask.zsh "prescient $*" 2>&1 | sed -n 's/^HIT //p' | sort -u; }

# ---- fish ----

ask_fish() {
    HOME=$TMP XDG_CONFIG_HOME=$TMP fish --no-config -c \
        "source fish.completion; complete -C '${*}'" 2>/dev/null | cut -f1 | sort -u
}

# asks SHELL WORD...: what it offers for the last word, which may be empty
asks() {
    case $1 in
    bash) ask_bash "${@:2}" ;;
    zsh) ask_zsh "${*:2}" ;;
    fish) ask_fish "prescient ${*:2}" ;;
    esac
}

for shell in bash zsh fish; do
    if ! command -v $shell >/dev/null; then
        echo "# there is no $shell here: its completion is not tried"
        continue
    fi
    is "$shell: commands" "$(asks $shell '')" "$commands"
    is "$shell: some of them" "$(asks $shell 'sch' | xargs)" "schedule schema"
    is "$shell: the first words of a command" "$(asks $shell token '' | xargs)" "list new revoke"
    is "$shell: those that are shells" "$(asks $shell completion '' | xargs)" "bash fish zsh"
    is "$shell: commands behind help" "$(asks $shell help '')" "$commands"
    is "$shell: an option in front of the command" "$(asks $shell --quiet tok)" token
    is "$shell: one with a value" "$(asks $shell --store sqlite:list tok)" token
    is "$shell: an option behind one" "$(asks $shell list --json --bef)" --before
    is "$shell: options of every command in front of it" \
        "$(asks $shell --js)" --json
    wrong=
    while read -r command option values; do
        [ "$(asks $shell $command "--$option" '' | xargs)" = "$values" ] || wrong+=" $command --$option"
    done <words
    is "$shell: what the value of an option may be" "$wrong" ""
    is "$shell: a part of one" "$(asks $shell runs --outcome 'job')" job_broken
    is "$shell: of a letter, too, files" "$(asks $shell list -c some)" some.cfg
    is "$shell: files of --config, and of no other" \
        "$(asks $shell list --config some) $(asks $shell list --limit some)" "some.cfg "
    is "$shell: zones" "$(asks $shell list --zone Europe/Berl)" Europe/Berlin
    is "$shell: of the rule of a schedule, too" "$(asks $shell schedule --timezone UT)" UTC
    asked=list
    [ $shell = zsh ] || asked=$commands             # where each question starts two shells: some
    [ $shell = zsh ] && asked="list enqueue events"
    wrong=
    for c in $asked; do
        [ "$c" = bench ] || [ "$(asks $shell "$c" --)" = "$(options "$c")" ] || wrong+=" $c"
    done
    is "$shell: all options of each command" "$wrong" ""
done

# ---- letters ----

export PRESCIENT_STORE=sqlite:letters.db
"$P" -q init >/dev/null
is "-j is --json, -l N is --limit N" "$("$P" list -j -l 5)" "[]"
is "-s is --store, in front of the command, too" "$("$P" -s sqlite:letters.db -q list -j)" "[]"
is "-V is --version" "$("$P" -V)" "$("$P" --version)"
has "--help has them" "$("$P" list --help)" "  --limit, -l N"
fails_with 2 "unknown option -l; 'prescient version --help' lists them" "$P" version -l 5
fails_with 2 "--limit needs a value" "$P" list -l
fails_with 2 "unknown option -jq" "$P" list -jq
is "a letter means the same in every command" \
    "$(json "sorted({(o['short'], o['name']) for c in j['commands'] for o in c['options'] + j['options']
        if o['short']})" <help.json)" \
    "[('V', 'version'), ('c', 'config'), ('f', 'follow'), ('h', 'help'), ('j', 'json'), ('l', 'limit'), \
('q', 'quiet'), ('s', 'store'), ('w', 'wide')]"
