/* exec - runs a command for each check: any program, no code of ours. It reads the check as JSON
 * from its standard input, and its exit status is the answer: 0 done, 75 again, else a failure.
 * With answer = "json" what it prints is. With stream = true one process lives on, is given a line
 * for each check, and answers by a line. */
#include <prescient/job.h>

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "stream.h"
#include "window.h"

enum {
    AGAIN_STATUS = 75,              /* EX_TEMPFAIL of sysexits.h */
    AGAIN_AFTER_S = 15 * 60,
    WORDS_MAX = 1024,               /* arguments, or variables */
    ANSWER_MAX = 256 * 1024,        /* bytes of an answer as JSON; host->answer_json refuses more */
};

/* The check's document, but its data, as variables: PRESCIENT_ENTITY_KEY, ... */
static const char *const fields[] = { "type", "id", "timestamp", "entity_name", "entity_key", "job",
                                      "check_number", "failure_count", "first_check_at" };
/* What a command gets of our environment. A worker's may have the password of a database. */
static const char *const passed_on[] = { "PATH=", "HOME=", "LANG=", "LC_ALL=", "TZ=" };
enum { FIELDS = sizeof fields / sizeof *fields, PASSED_ON = sizeof passed_on / sizeof *passed_on };

extern char **environ;

struct exec {
    const struct prescient_host *host;
    struct command command;
    char *path;                     /* of the program */
    char **env;                     /* those of the settings, then room for the others and NULL */
    int nenv;
    int64_t again_after_s;
    char *json;                     /* room for an answer; NULL: the exit status is the answer */
    struct excerpt output;
    int window;                     /* of a stream; 0: each check has a command of its own */
    struct stream *stream;
};

static int __attribute__((format(printf, 3, 4))) refuse(char *why, size_t why_size, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why, why_size, fmt, ap);
    va_end(ap);
    return -1;
}

/* ---- settings ---- */

/* Element `i` of a list; NULL: it is a list or a group itself. */
static const char *element(const struct prescient_host *host, const char *list, int i)
{
    char name[48];
    snprintf(name, sizeof name, "%s.%d", list, i);
    return host->setting(host, name);
}

static int read_command(struct exec *job, char *why, size_t why_size)
{
    int n = job->host->setting_count(job->host, "command");
    if (n < 1 || n > WORDS_MAX)
        return refuse(why, why_size,
                      "setting 'command': expected a list of the program and its arguments, such as "
                      "[ \"/usr/local/bin/tell\", \"--fast\" ]; a shell is one, too: "
                      "[ \"sh\", \"-c\", \"...\" ]");
    job->command.argv = calloc((size_t)n + 1, sizeof *job->command.argv);
    for (int i = 0; job->command.argv && i < n; i++) {
        job->command.argv[i] = (char *)element(job->host, "command", i);
        if (!job->command.argv[i])
            return refuse(why, why_size, "setting 'command': element %d is no text", i + 1);
    }
    if (!job->command.argv)
        return refuse(why, why_size, "out of memory");
    if (!*job->command.argv[0])
        return refuse(why, why_size, "setting 'command': the first element, the program, is empty");
    return 0;
}

/* "NAME=value" */
static int check_variable(const char *text, int i, char *why, size_t why_size)
{
    const char *value = text ? strchr(text, '=') : NULL;
    if (!value || value == text)
        return refuse(why, why_size, "setting 'env': element %d is no text such as \"NAME=value\"", i + 1);
    if (!strncmp(text, "PRESCIENT_", 10))
        return refuse(why, why_size,
                      "setting 'env': %.60s begins with PRESCIENT_, as only the variables of a check do",
                      text);
    return 0;
}

static int read_env(struct exec *job, char *why, size_t why_size)
{
    int n = job->host->setting_count(job->host, "env");
    if (n == 0 && job->host->setting(job->host, "env"))
        return refuse(why, why_size, "setting 'env': expected a list such as [ \"NAME=value\" ]");
    if (n > WORDS_MAX)
        return refuse(why, why_size, "setting 'env': found %d variables, expected at most %d", n, WORDS_MAX);
    job->env = calloc((size_t)(n < 0 ? 0 : n) + FIELDS + PASSED_ON + 1, sizeof *job->env);
    if (!job->env)
        return refuse(why, why_size, "out of memory");
    for (; job->nenv < n; job->nenv++) {
        const char *text = element(job->host, "env", job->nenv);
        if (check_variable(text, job->nenv, why, why_size))
            return -1;
        job->env[job->nenv] = (char *)text;
    }
    return 0;
}

static int read_dir(struct exec *job, char *why, size_t why_size)
{
    const char *dir = job->host->setting(job->host, "dir");
    struct stat st;
    if (!dir)
        return 0;
    if (*dir != '/')
        return refuse(why, why_size, "setting 'dir': found '%.200s', expected a path that begins with '/'",
                      dir);
    if (stat(dir, &st))
        return refuse(why, why_size, "setting 'dir': %.200s: %s", dir, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return refuse(why, why_size, "setting 'dir': %.200s is no folder", dir);
    job->command.dir = dir;
    return 0;
}

static int read_answer(struct exec *job, char *why, size_t why_size)
{
    const struct prescient_host *host = job->host;
    const char *answer = host->setting(host, "answer");
    job->again_after_s = host->setting_duration(host, "again_after", AGAIN_AFTER_S);
    if (job->again_after_s < 0)
        return refuse(why, why_size, "%s", host->error(host));
    if (!answer)
        return 0;
    if (strcmp(answer, "json") != 0)
        return refuse(why, why_size,
                      "setting 'answer': found '%.80s', expected \"json\", or none, for the exit status",
                      answer);
    job->json = malloc(ANSWER_MAX + 1);
    return job->json ? 0 : refuse(why, why_size, "out of memory");
}

/* What is only for the one kind is refused for the other: it would have no effect. */
static int check_kind(const struct exec *job, bool is_stream, char *why, size_t why_size)
{
    const struct prescient_host *host = job->host;
    if (is_stream && host->setting(host, "answer"))
        return refuse(why, why_size, "setting 'answer': a stream always answers by JSON; expected none");
    if (is_stream && host->setting(host, "again_after"))
        return refuse(why, why_size, "setting 'again_after': it belongs to exit status 75, but with 'stream' "
                      "each answer has its own time (\"again_at\"); expected none");
    if (!is_stream && host->setting_count(host, "window") >= 0)
        return refuse(why, why_size, "setting 'window': it belongs to 'stream = true', which is not set");
    return 0;
}

static int read_stream(struct exec *job, char *why, size_t why_size)
{
    const struct prescient_host *host = job->host;
    const char *stream = host->setting(host, "stream"), *window = host->setting(host, "window");
    bool is_stream = stream && !strcmp(stream, "true"), is_set = host->setting_count(host, "stream") >= 0;
    if (is_set && !is_stream && (!stream || strcmp(stream, "false") != 0))
        return refuse(why, why_size, "setting 'stream': found '%.40s', expected true or false",
                      stream ? stream : "a list");
    if (check_kind(job, is_stream, why, why_size))
        return -1;
    if (!is_stream)
        return 0;
    char *end = NULL;
    long n = window ? strtol(window, &end, 10) : WINDOW_USUAL;
    bool is_number = window ? *window && !*end : host->setting_count(host, "window") < 0;
    if (!is_number || n < 1 || n > WINDOW_MAX)
        return refuse(why, why_size, "setting 'window': found '%.40s', expected a whole number from 1 to %d",
                      window ? window : "a list", WINDOW_MAX);
    job->window = (int)n;
    return 0;
}

/* ---- the program ---- */

static char *join(const char *folder, size_t folder_len, const char *name)
{
    char *path = malloc(folder_len + strlen(name) + 2);
    if (path)
        sprintf(path, "%.*s/%s", (int)folder_len, folder, name);
    return path;
}

static int is_program(const char *path)
{
    struct stat st;
    if (stat(path, &st))
        return 0;
    if (!S_ISREG(st.st_mode)) {
        errno = EACCES;
        return 0;
    }
    return eaccess(path, X_OK) == 0;
}

/* PATH of the settings' env, else ours. */
static const char *search_path(const struct exec *job)
{
    for (int i = 0; i < job->nenv; i++)
        if (!strncmp(job->env[i], "PATH=", 5))
            return job->env[i] + 5;
    const char *path = getenv("PATH");
    return path ? path : "/usr/local/bin:/usr/bin:/bin";
}

/* The first of that name in a folder of the path. Relative folders are not searched: what is in one
 * depends on where we are. */
static char *look_for(const struct exec *job, const char *name)
{
    for (const char *folder = search_path(job); *folder; folder += *folder == ':') {
        size_t len = strcspn(folder, ":");
        char *path = *folder == '/' ? join(folder, len, name) : NULL;
        if (path && is_program(path))
            return path;
        free(path);
        folder += len;
    }
    return NULL;
}

static int find_program(struct exec *job, char *why, size_t why_size)
{
    const char *name = job->command.argv[0], *dir = job->command.dir;
    if (!strchr(name, '/')) {
        job->path = look_for(job, name);
        if (!job->path)
            return refuse(why, why_size, "setting 'command': there is no program '%.200s' in %.200s", name,
                          search_path(job));
    } else {
        if (*name != '/' && !dir)
            return refuse(why, why_size,
                          "setting 'command': found '%.200s', expected a path that begins with '/', or a "
                          "'dir' that it is in", name);
        job->path = *name == '/' ? strdup(name) : join(dir, strlen(dir), name);
        if (!job->path)
            return refuse(why, why_size, "out of memory");
        if (!is_program(job->path))
            return refuse(why, why_size, "setting 'command': %.200s: %s", job->path, strerror(errno));
    }
    job->command.path = job->path;
    return 0;
}

/* ---- what is passed on of our environment ---- */

static int is_set(const struct exec *job, const char *name)
{
    for (int i = 0; i < job->nenv; i++)
        if (!strncmp(job->env[i], name, strlen(name)))
            return 1;
    return 0;
}

/* Those that are passed on, behind the first `n` of job->env. */
static void pass_on(const struct exec *job, int n)
{
    for (int i = 0; i < PASSED_ON; i++)
        for (char **e = environ; e && *e && !is_set(job, passed_on[i]); e++)
            if (!strncmp(*e, passed_on[i], strlen(passed_on[i]))) {
                job->env[n++] = *e;
                break;
            }
    job->env[n] = NULL;
}

/* ---- opening and closing ---- */

static void exec_close(void *state)
{
    struct exec *job = state;
    stream_free(job->stream);
    free(job->command.argv);
    free(job->path);
    free(job->env);
    free(job->json);
    free(job);
}

static int read_settings(struct exec *job, char *why, size_t why_size)
{
    if (read_command(job, why, why_size) || read_env(job, why, why_size) || read_dir(job, why, why_size) ||
        read_answer(job, why, why_size) || read_stream(job, why, why_size))
        return -1;
    return find_program(job, why, why_size);
}

/* A command for each check takes no batches: its checks wait for no other one. */
static int start_stream(struct exec *job, char *why, size_t why_size)
{
    const struct prescient_host *host = job->host;
    bool is_dry = PRESCIENT_HAS(host, dry) && host->dry(host, NULL, NULL);
    if (job->window && !is_dry) {
        pass_on(job, job->nenv);
        job->stream = stream_new(host, &job->command, job->env, job->window, why, why_size);
        if (!job->stream)
            return -1;
    }
    host->batch_most(host, job->stream ? stream_batch(job->stream) : 1);
    return 0;
}

static int exec_open(const struct prescient_host *host, void **state, char *why, size_t why_size)
{
    if (!PRESCIENT_HAS(host, batch_most))
        return refuse(why, why_size, "this engine is older than the plug-in: it has no JSON for streams");
    struct exec *job = calloc(1, sizeof *job);
    if (!job)
        return refuse(why, why_size, "out of memory");
    job->host = host;
    if (read_settings(job, why, why_size) || start_stream(job, why, why_size)) {
        exec_close(job);
        return -1;
    }
    *state = job;
    return 0;
}

/* ---- the environment of one check ---- */

/* "PRESCIENT_ENTITY_KEY=42" and a NUL; returns what is behind them. */
static char *write_variable(char *to, const char *field, const char *value)
{
    to = stpcpy(to, "PRESCIENT_");
    for (; *field; field++)
        *to++ = (char)(*field >= 'a' && *field <= 'z' ? *field - 'a' + 'A' : *field);
    *to++ = '=';
    return stpcpy(to, value) + 1;
}

/* Puts the variables of the check behind those of the settings. Returns their text, which the
 * caller frees; NULL: out of memory. */
static char *write_variables(const struct exec *job, const struct prescient_check *check)
{
    const char *values[FIELDS];
    size_t size = 0;
    for (int i = 0; i < FIELDS; i++) {
        values[i] = job->host->field(job->host, check, fields[i]);
        if (!values[i])
            return NULL;
        size += strlen("PRESCIENT_=") + strlen(fields[i]) + strlen(values[i]) + 1;
    }
    char *text = malloc(size), *to = text;
    for (int i = 0; text && i < FIELDS; i++) {
        job->env[job->nenv + i] = to;
        to = write_variable(to, fields[i], values[i]);
    }
    return text;
}

/* ---- the answer ---- */

/* What the command has written, behind the words that are there. */
static void add_output(const struct exec *job, struct prescient_answer *answer)
{
    size_t len = strlen(answer->text);
    const char *colon = len && job->output.total ? ": " : "";
    len += (size_t)snprintf(answer->text + len, answer->text_size - len, "%s", colon);
    if (len < answer->text_size)
        excerpt_write(&job->output, job->host, answer->text + len, answer->text_size - len);
}

static void fail(const struct exec *job, struct prescient_answer *answer, int status)
{
    if (WIFSIGNALED(status)) {
        const char *name = sigabbrev_np(WTERMSIG(status));
        prescient_fail(answer, "killed by SIG%s", name ? name : "?");
    } else {
        prescient_fail(answer, "exit status %d", WEXITSTATUS(status));
    }
    add_output(job, answer);
}

static void answer_with_json(const struct exec *job, const struct prescient_check *check,
                             struct prescient_answer *answer, size_t len)
{
    const struct prescient_host *host = job->host;
    if (host->answer_json(host, check, answer, job->json, len, 0))
        prescient_fail(answer, "its answer: %s", host->error(host));
    else if (*answer->text)
        return;
    add_output(job, answer);
}

static void judge(const struct exec *job, const struct prescient_check *check,
                  struct prescient_answer *answer, int status, size_t json_len)
{
    bool has_exited = WIFEXITED(status);
    if (has_exited && WEXITSTATUS(status) == AGAIN_STATUS) {
        prescient_again(answer, check->now + job->again_after_s);
        add_output(job, answer);
    } else if (!has_exited || WEXITSTATUS(status) != 0) {
        fail(job, answer, status);
    } else if (job->json) {
        answer_with_json(job, check, answer, json_len);
    } else {
        prescient_done(answer);
        add_output(job, answer);
    }
}

/* The document as a line: a shell's `read` wants its end. */
static char *line_of(const struct exec *job, const struct prescient_check *check)
{
    const char *document = job->host->document(job->host, check);
    char *line = document ? malloc(strlen(document) + 2) : NULL;
    if (line)
        sprintf(line, "%s\n", document);
    return line;
}

static void run(struct exec *job, const struct prescient_check *check, struct prescient_answer *answer,
                const char *line)
{
    struct capture captured = { .bytes = job->json, .room = ANSWER_MAX + 1 };
    char why[512];
    int status = 0;
    excerpt_start(&job->output);
    enum command_end end = command_run(&job->command, job->env, line, strlen(line), &job->output,
                                       job->json ? &captured : NULL, &status, why, sizeof why);
    size_t json_len = captured.total < captured.room ? captured.total : captured.room;
    if (end == COMMAND_ENDED)
        judge(job, check, answer, status, json_len);
    else
        prescient_fail(answer, "%s", why);
}

/* ---- what would be run ---- */

/* Of an argument, what a shell would take for it. */
static void put_word(FILE *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=/.,:@%";
    if (*word && !word[strspn(word, plain)]) {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word; word++)
        fputs(*word == '\'' ? "'\\''" : (char[2]){ *word, 0 }, out);
    fputc('\'', out);
}

/* To be freed; NULL: out of memory. */
static char *without_secrets(const struct prescient_host *host, const char *text)
{
    char *copy = strdup(text);
    if (copy && PRESCIENT_HAS(host, hide))
        host->hide(host, copy);
    return copy;
}

/* A secret that a word has in it is not known any more once it is quoted. The values of the
 * settings' variables are not shown: which are secrets only the command knows; nor is the name, in
 * one that is a secret as a whole. 0, or -1: out of memory. */
static int put_run(const struct exec *job, FILE *out, const char *line)
{
    if (job->command.dir)
        fprintf(out, "in %s\n", job->command.dir);
    fputs(job->window ? "a line for the process of" : "run", out);
    for (char **word = job->command.argv; *word; word++) {
        char *shown = without_secrets(job->host, *word);
        if (!shown)
            return -1;
        fputc(' ', out);
        put_word(out, shown);
        free(shown);
    }
    fputc('\n', out);
    for (int i = 0; i < job->nenv; i++) {
        char *shown = without_secrets(job->host, job->env[i]);
        if (!shown)
            return -1;
        if (strchr(shown, '='))
            fprintf(out, "%.*s=", (int)strcspn(shown, "="), shown);
        fputs("***\n", out);
        free(shown);
    }
    fprintf(out, "\n%s", line);
    return 0;
}

/* Whether it was a dry run: then it is answered. */
static bool show(const struct exec *job, const struct prescient_check *check, struct prescient_answer *answer,
                 const char *line)
{
    const struct prescient_host *host = job->host;
    char *text = NULL;
    size_t size = 0;
    if (!PRESCIENT_HAS(host, dry) || !host->dry(host, check, NULL))
        return false;
    FILE *out = open_memstream(&text, &size);
    int rc = out ? put_run(job, out, line) : -1;
    if (out && fclose(out))
        rc = -1;
    if (rc) {
        prescient_fail(answer, "out of memory for the words of a command");
    } else {
        host->dry(host, check, text);
        prescient_done(answer);
        prescient_note(answer, "not run");
    }
    free(text);
    return true;
}

static void exec_check(void *state, const struct prescient_check *check, struct prescient_answer *answer)
{
    struct exec *job = state;
    if (job->stream) {
        stream_run(job->stream, check, 1, answer);
        return;
    }
    char *line = line_of(job, check), *variables = write_variables(job, check);
    pass_on(job, job->nenv + FIELDS);
    if (!line || !variables)
        prescient_fail(answer, "out of memory");
    else if (!show(job, check, answer, line))
        run(job, check, answer, line);
    free(variables);
    free(line);
}

/* Of a stream only: see start_stream. */
static void exec_many(void *state, const struct prescient_check *checks, int n,
                      struct prescient_answer *answers)
{
    struct exec *job = state;
    stream_run(job->stream, checks, n, answers);
}

PRESCIENT_PLUGIN(.name = "exec", .summary = "runs a command; its exit status, or its JSON, is the answer",
                 .open = exec_open, .close = exec_close, .job_exec = exec_check,
                 .job_exec_many = exec_many, .heeds_dry = 1);
