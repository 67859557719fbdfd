/* parameters.h - from the query of a request to the parameters of a report: each is a row of a
 * table that says where it comes from. */
#ifndef PRESCIENT_HTTP_PARAMETERS_H
#define PRESCIENT_HTTP_PARAMETERS_H

#include "desk.h"
#include "token.h"

enum {
    PARAMETERS_LIMIT = 100,         /* items, where no limit is asked for */
    PARAMETERS_LIMIT_MAX = 1000,
    PARAMETERS_PAYLOADS = 100,      /* items at most where payloads are asked for: each has up to 64 KiB */
    PARAMETERS_LOOKS = 20000,       /* rows that a request looks at, where no index has what is sought */
    PARAMETERS_HOURS = 3000,        /* rows of what runs were like: each has some fifty classes */
    PARAMETERS_LOOK_MS = 250,       /* or for how long one error is looked for in the past */
    PARAMETERS_PARTS_MS = 100,      /* a look for rows of the past, or all of one question */
    PARAMETERS_PART_MS_LEAST = 10,
    PARAMETERS_MAX = 12,            /* of one report */
};

enum parameter_source {
    PARAMETER_END,                  /* behind the last one of a table */
    PARAMETER_NOTHING,              /* NULL */
    PARAMETER_FIXED,                /* `name` itself */
    PARAMETER_TEXT,                 /* as it was asked */
    PARAMETER_WORD,                 /* one of `words` */
    PARAMETER_MOMENT,               /* a time as on the command line, in seconds */
    PARAMETER_BEHIND,               /* the second behind that */
    PARAMETER_DAY,                  /* such a time, or a day ago */
    PARAMETER_HOURS,                /* such a time, or later: what there is to be looked at has a bound */
    PARAMETER_FROM,                 /* a moment, or the one behind the place that the cursor names */
    PARAMETER_AFTER,                /* the place that the cursor names */
    PARAMETER_BARE,                 /* not NULL: payloads were not asked for */
    PARAMETER_MOST,                 /* one more than are shown, to know whether there are more */
    PARAMETER_LOOKS,                /* the bounds above */
    PARAMETER_LOOK_MS,
    PARAMETER_COUNTED,              /* checks counted in one slot, before it is estimated */
};

struct parameter {
    enum parameter_source source;
    const char *name;               /* in the query; NULL: it is not asked for */
    const char *const *words;       /* ended by NULL */
};

/* Rows of tables of parameters: where one comes from, and by which name. */
#define PARAMETER_IS(source)          { PARAMETER_##source, NULL, NULL }
#define PARAMETER_NAMED(source, name) { PARAMETER_##source, name, NULL }
#define PARAMETERS_OF_ROW                                                                                    \
    PARAMETER_NAMED(TEXT, "entity"), PARAMETER_NAMED(TEXT, "key"), PARAMETER_NAMED(TEXT, "job")

struct asking {
    struct desk *desk;
    enum token_role role; /* of who asks */
    struct query query;
    int64_t limit;
    const char *after;              /* the place that the cursor names; NULL: none */
    bool with_payload;
    int64_t now;                    /* the store's, in seconds; 0: nobody has needed it yet */
    const char *hours_from;         /* in seconds; NULL: nobody has needed it yet */
    bool hours_are_cut;             /* earlier ones were asked for, too */
    /* fewer rows, and a shorter time, than the bounds above; 0: those */
    int64_t looks, look_ms;
    struct arena *arena;            /* where rows live; NULL: in that of the desk */
    int parts_looking;              /* looks for rows of the past that are to come; 0 is one */
    int64_t looks_until_us;         /* by the machine's clock; 0: none has begun */
    const char *db_role;            /* that has the rights to what is asked; NULL: that of the backend */
    struct err err;
};

/* Adds the names of the query that they read to `names`, which has `named` already and room for
 * all, and ends it with NULL. Returns how many there are now. */
int parameters_name(const struct parameter *parameters, const char **names, int named);

/* How long one of `looks` that are to come may take, of what is left: equal shares, but what one
 * leaves is for the next ones. Pure. */
int64_t parameters_share_ms(int64_t left_us, int looks);
/* The same for the next look of this request. */
int64_t parameters_look_ms(struct asking *asking);

/* Sets `out`; texts live in the arena of the desk. Returns how many there are, ERR_INPUT with the
 * name at fault, or another ERR_, in asking->err. */
int parameters_read(struct asking *asking, const struct parameter *parameters,
                    const char *out[PARAMETERS_MAX]);
/* Sets asking->limit, which is `limit` of the query, and with payloads no more than an answer may
 * have of them: then `next` goes on. */
int parameters_read_limit(struct asking *asking);

/* The report with what the query says, its rows without payloads that nobody has asked for.
 * ERR_DENIED: payloads were asked for, and the server's user may not read them. Else returns 0 or
 * an ERR_, in asking->err. */
int parameters_run(struct asking *asking, const char *report, const struct parameter *parameters,
                   struct store_rows *out);
/* The same with parameters that are there. */
int parameters_run_with(struct asking *asking, const char *report, const char *const *params, int n,
                        struct store_rows *out);
/* "scanned_to" of an answer that has only the newest of the hours that were asked for. Returns 0 or
 * ERR_NOMEM. */
int parameters_tell_cut(struct asking *asking, json_t *object);
/* The answer to what could not be read, or run. */
void parameters_refuse(struct asking *asking, int rc, struct answer *answer);

#endif
