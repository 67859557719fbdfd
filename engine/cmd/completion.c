/* completion.c - see completion.h. All of it comes from the tables of commands and options, so a
 * shell knows those of the program that it asks. */
#include "completion.h"

#include <ctype.h>
#include <string.h>
#include "../base/zone.h"
#include "option.h"

/* ---- words ---- */

void completion_words(const char *args, void (*word)(void *ctx, const char *text, int length), void *ctx)
{
    int depth = 0;
    bool begins = true;
    for (const char *p = args; *p; p++) {
        int length = (int)strspn(p, "abcdefghijklmnopqrstuvwxyz");
        bool is_whole = length > 0 && strchr(" |", p[length]);
        if (begins && depth == 0 && is_whole)
            word(ctx, p, length);
        depth += *p == '(' || *p == '[';
        depth -= *p == ')' || *p == ']';
        begins = (*p == '|' && p[1] == ' ') || (begins && *p == ' ');
    }
}

static bool takes_command(const struct command *command)
{
    return !strcmp(command->args, "[COMMAND]");
}

/* Words with a blank between them. */
struct wording { FILE *out; int n; };

static void put_word(void *ctx, const char *text, int length)
{
    struct wording *w = ctx;
    fprintf(w->out, "%s%.*s", w->n++ ? " " : "", length, text);
}

static void put_words(FILE *out, const struct command *command)
{
    struct wording w = { out, 0 };
    if (takes_command(command))
        for (const struct command *const *c = command_table; *c; c++)
            put_word(&w, (*c)->name, (int)strlen((*c)->name));
    else
        completion_words(command->args, put_word, &w);
}

static void count_word(void *ctx, const char *text, int length)
{
    (void)text, (void)length;
    ++*(int *)ctx;
}

static bool has_words(const struct command *command)
{
    int n = 0;
    completion_words(command->args, count_word, &n);
    return n > 0 || takes_command(command);
}

/* "--limit -l", with a blank before each; `only_valued`: of those that take a value. */
static void put_names(FILE *out, const struct command_option *options, bool only_valued)
{
    for (const struct command_option *o = options; o && o->name; o++) {
        if (only_valued && !o->arg)
            continue;
        fprintf(out, " --%s", o->name);
        if (option_short(o))
            fprintf(out, " -%c", option_short(o));
    }
}

/* ---- quoting: text in single quotes ---- */

/* `close` is what a quote becomes; each of `marked` gets a backslash. */
static void put_quoted(FILE *out, const char *text, const char *close, const char *marked)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs(close, out);
        else if (strchr(marked, *text))
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
    }
}

/* ---- values of options ---- */

enum value { VALUE_ANY, VALUE_WORD, VALUE_FILE, VALUE_ZONE };

static enum value value_of(const struct command *command, const struct command_option *o)
{
    if (option_words(command, o))
        return VALUE_WORD;
    if (!strcmp(o->arg, "ZONE"))
        return VALUE_ZONE;
    return !strcmp(o->arg, "FILE") || !strcmp(o->arg, "DIR") ? VALUE_FILE : VALUE_ANY;
}

static void put_list(FILE *out, const char *const *words)
{
    for (int i = 0; words[i]; i++)
        fprintf(out, "%s%s", i ? " " : "", words[i]);
}

/* A command of the shell that prints the names of zones, a line each: tzdata has a table. */
static void put_zones(FILE *out)
{
    fputs("echo UTC; sed -n '/^#/!{s/^[^\t]*\t[^\t]*\t//;s/\t.*//;p}' " ZONE_FOLDER "/zone.tab 2>/dev/null",
          out);
}

/* ---- bash ---- */

/* What stands behind an option: "list --limit" in the pattern of a case, of both its names. */
static void bash_values(FILE *out, const struct command *command, const struct command_option *options)
{
    const char *name = command ? command->name : "*";
    for (const struct command_option *o = options; o && o->name; o++) {
        enum value value = o->arg ? value_of(command, o) : VALUE_ANY;
        if (value == VALUE_ANY)
            continue;
        fprintf(out, "    %s\\ --%s", name, o->name);
        if (option_short(o))
            fprintf(out, "|%s\\ -%c", name, option_short(o));
        if (value == VALUE_FILE)
            fputs(") return 0 ;;\n", out);
        else if (value == VALUE_ZONE)
            fputs(") values=$(_prescient_zones) ;;\n", out);
        else {
            fputs(") values='", out);
            put_list(out, option_words(command, o));
            fputs("' ;;\n", out);
        }
    }
}

static void bash_write(FILE *out)
{
    fputs("# bash completion for prescient\n_prescient_zones() { ", out);
    put_zones(out);
    fputs("; }\n_prescient()\n{\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local command= options= words= values= i valued='", out);
    put_names(out, option_globals, true);
    fputs(" '\n"
          "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
          "        case ${COMP_WORDS[i]} in\n"
          "        -*) [[ $valued != *\" ${COMP_WORDS[i]} \"* ]] || i=$((i + 1)) ;;\n"
          "        *) command=${COMP_WORDS[i]}; break ;;\n"
          "        esac\n"
          "    done\n"
          "    case $command in\n"
          "    '') words='", out);
    for (const struct command *const *c = command_table; *c; c++)
        fprintf(out, "%s%s", c == command_table ? "" : " ", (*c)->name);
    fputs("' i=$((COMP_CWORD - 1)) ;;\n", out);
    for (const struct command *const *c = command_table; *c; c++) {
        fprintf(out, "    %s) options='", (*c)->name);
        put_names(out, (*c)->options, false);
        fputs("' words='", out);
        put_words(out, *c);
        fputs("' valued+='", out);
        put_names(out, (*c)->options, true);
        fputs(" ' ;;\n", out);
    }
    fputs("    esac\n    options+='", out);
    put_names(out, option_globals, false);
    fputs("'\n"
          "    COMPREPLY=()\n"
          "    [[ $cur != = ]] || cur=\n"     /* "--name=value" is three words to bash */
          "    [[ $prev != = ]] || prev=${COMP_WORDS[COMP_CWORD-2]}\n"
          "    case \"$command $prev\" in\n", out);
    for (const struct command *const *c = command_table; *c; c++)
        bash_values(out, *c, (*c)->options);
    bash_values(out, NULL, option_globals);
    fputs("    esac\n"
          "    if [[ $valued == *\" $prev \"* ]]; then\n"
          "        compopt +o default 2>/dev/null\n"
          "        COMPREPLY=($(compgen -W \"$values\" -- \"$cur\"))\n"
          "    elif [[ $cur == -* ]]; then\n"
          "        COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
          "    elif ((COMP_CWORD == i + 1)); then\n"
          "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
          "    fi\n"
          "}\n"
          "complete -o default -F _prescient prescient\n", out);
}

/* ---- zsh ---- */

static void zsh_value(FILE *out, const struct command *command, const struct command_option *o)
{
    static const char *const actions[] = { " ", "(", "_files", "_prescient_zones" };
    enum value value = value_of(command, o);
    fputs(actions[value], out);
    if (value != VALUE_WORD)
        return;
    put_list(out, option_words(command, o));
    fputc(')', out);
}

static void zsh_option(FILE *out, const struct command *command, const struct command_option *o, char letter)
{
    if (letter)
        fprintf(out, " '-%c[", letter);
    else
        fprintf(out, " '--%s[", o->name);
    put_quoted(out, o->help, "'\\''", "[]:\\");
    fputc(']', out);
    if (o->arg) {
        fputc(':', out);
        put_quoted(out, o->arg, "'\\''", ":\\");
        fputc(':', out);
        zsh_value(out, command, o);
    }
    fputc('\'', out);
}

static void zsh_options(FILE *out, const struct command *command, const struct command_option *options)
{
    for (const struct command_option *o = options; o && o->name; o++) {
        zsh_option(out, command, o, '\0');
        if (option_short(o))
            zsh_option(out, command, o, option_short(o));
    }
}

static void zsh_write(FILE *out)
{
    fputs("#compdef prescient\n_prescient_zones() { local -a zones; zones=(${(f)\"$(", out);
    put_zones(out);
    fputs(")\"}); compadd -a zones }\n_prescient()\n{\n"
          "    local context state state_descr line curcontext=$curcontext\n"
          "    typeset -A opt_args\n"
          "    local -a commands globals\n"
          "    globals=(", out);
    zsh_options(out, NULL, option_globals);
    fputs(")\n    commands=(\n", out);
    for (const struct command *const *c = command_table; *c; c++) {
        fprintf(out, "        '%s:", (*c)->name);
        put_quoted(out, (*c)->help, "'\\''", ":\\");
        fputs("'\n", out);
    }
    fputs("    )\n"
          "    _arguments -C -A '-*' \"$globals[@]\" '1: :->command' '*:: :->rest' && return\n"
          "    case $state in\n"
          "    command) _describe -t commands command commands ;;\n"
          "    rest)\n"
          "        case $words[1] in\n", out);
    for (const struct command *const *c = command_table; *c; c++) {
        fprintf(out, "        %s) _arguments \"$globals[@]\"", (*c)->name);
        zsh_options(out, *c, (*c)->options);
        if (has_words(*c)) {
            fputs(" '1: :(", out);
            put_words(out, *c);
            fputs(")'", out);
        }
        fputs(" '*: :_files' ;;\n", out);
    }
    fputs("        esac ;;\n    esac\n}\n"
          "if [ \"$funcstack[1]\" = _prescient ]; then\n"
          "    _prescient \"$@\"\n"
          "else\n"
          "    compdef _prescient prescient\n"
          "fi\n", out);
}

/* ---- fish ---- */

static void fish_value(FILE *out, const struct command *command, const struct command_option *o)
{
    enum value value = value_of(command, o);
    fputs(value == VALUE_FILE ? " -r -F" : " -x", out);
    if (value == VALUE_ZONE)
        fputs(" -a '(__prescient_zones)'", out);
    if (value != VALUE_WORD)
        return;
    fputs(" -a '", out);
    put_list(out, option_words(command, o));
    fputc('\'', out);
}

static void fish_options(FILE *out, const struct command *command, const struct command_option *options)
{
    for (const struct command_option *o = options; o && o->name; o++) {
        fputs("complete -c prescient", out);
        if (command)
            fprintf(out, " -n '__prescient_is %s'", command->name);
        fprintf(out, " -l %s", o->name);
        if (option_short(o))
            fprintf(out, " -s %c", option_short(o));
        if (o->arg)
            fish_value(out, command, o);
        fputs(" -d '", out);
        put_quoted(out, o->help, "\\'", "\\");
        fputs("'\n", out);
    }
}

static void fish_command(FILE *out, const struct command *command)
{
    fprintf(out, "complete -c prescient -n '__prescient_is' -f -a %s -d '", command->name);
    put_quoted(out, command->help, "\\'", "\\");
    fputs("'\n", out);
    if (has_words(command)) {
        fprintf(out, "complete -c prescient -n '__prescient_is %s 1' -f -a '", command->name);
        put_words(out, command);
        fputs("'\n", out);
    }
    fish_options(out, command, command->options);
}

static void fish_write(FILE *out)
{
    fputs("# fish completion for prescient\n"
          "# __prescient_is [COMMAND [1]]: no command was typed yet, or this one (and nothing behind it)\n"
          "function __prescient_is\n"
          "    set -l valued", out);
    put_names(out, option_globals, true);
    fputs("\n"
          "    set -l typed (commandline -opc)\n"
          "    set -e typed[1]\n"
          "    set -l words\n"
          "    set -l skipped\n"
          "    for word in $typed\n"
          "        if test -n \"$skipped\"\n"
          "            set skipped\n"
          "        else if contains -- $word $valued\n"
          "            set skipped 1\n"
          "        else if not string match -q -- '-*' $word\n"
          "            set -a words $word\n"
          "        end\n"
          "    end\n"
          "    test (count $argv) -lt 2; or test (count $words) -eq 1; or return 1\n"
          "    test \"$words[1]\" = \"$argv[1]\"\n"
          "end\nfunction __prescient_zones\n    ", out);
    put_zones(out);
    fputs("\nend\n", out);
    fish_options(out, NULL, option_globals);
    for (const struct command *const *c = command_table; *c; c++)
        fish_command(out, *c);
}

/* ---- which ---- */

static const struct { const char *name; void (*write)(FILE *out); } shells[] = {
    { "bash", bash_write }, { "zsh", zsh_write }, { "fish", fish_write },
};

bool completion_write(FILE *out, const char *shell)
{
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (!strcmp(shells[i].name, shell)) {
            shells[i].write(out);
            return true;
        }
    return false;
}
