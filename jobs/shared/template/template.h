/* template.h - settings that are filled in for each check, in the language of jq. Compiled once,
 * when the job is opened; what they see is the check's document (docs/delivery.schema.json). */
#ifndef PRESCIENT_SHARED_TEMPLATE_H
#define PRESCIENT_SHARED_TEMPLATE_H

#include "../settings/settings.h"

enum template_form {
    TEMPLATE_TEXT,    /* a text with \(...) in it */
    TEMPLATE_LINE,    /* the same, and no control character may come out */
    TEMPLATE_PROGRAM, /* a program of jq: a text is its result as it is, else JSON */
    TEMPLATE_LIST,    /* a program whose result is a list, as JSON */
};

struct template;

/* The template of a setting; *out is NULL when there is none. `name` must live as long as it. 0, or
 * -1 with words: it is no template. */
int template_of_setting(const struct settings *s, const char *name, enum template_form form,
                        struct template **out);
/* The same, with `mark` (rewrite.h), which must live as long as it, in what comes out. */
int template_marked_of_setting(const struct settings *s, const char *name, enum template_form form,
                               const char *mark, struct template **out);
/* The same of a text, without a mark, which words call `name`. */
int template_new(const struct settings *s, const char *name, const char *text, enum template_form form,
                 struct template **out);
void template_free(struct template *t);

bool template_is_fixed(const struct template *t); /* it is the same for each check */

/* What templates see of one check. NULL with words: its payload cannot be read. */
struct template_input;
struct template_input *template_read(const char *document, int64_t now, char *why, size_t why_size);
void template_input_free(struct template_input *input);

/* The same of a check. NULL: it is answered, with a final FAIL. */
struct template_input *template_input_of(const struct prescient_host *host,
                                         const struct prescient_check *check,
                                         struct prescient_answer *answer);

/* What comes out, with a NUL behind it; to be freed. NULL with words, such as "subject: \(.data.x)
 * is null": this check will never have another result, unless the program was ended (bound.h), as
 * it took more than a quarter of the job's timeout, too much memory, or, of template_input_of, all
 * of this check together took half of that timeout. */
char *template_fill(struct template *t, struct template_input *input, size_t *len, char *why,
                    size_t why_size);

/* The same. NULL: the check is answered, with a final FAIL, or a FAIL when the program was
 * ended. */
char *template_fill_or_answer(struct template *t, struct template_input *input, size_t *len,
                              struct prescient_answer *answer);

#endif
