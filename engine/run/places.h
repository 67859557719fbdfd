/* places.h - the places of concurrency keys that this engine holds, and its checks that wait for
 * one (store_place.h). A key's checks wait in a queue; whichever comes first is admitted under a
 * place of the key that is free here, and nothing else runs under that place before it is answered.
 *
 * A place is taken when a check waits, renewed in time, and given back when no check of the key
 * waits, or when others want the key, once nothing runs under it. What is found busy is asked for
 * again for a second, and is then put off. The lanes make the calls; this makes none, and reads no
 * clock. */
#ifndef PRESCIENT_PLACES_H
#define PRESCIENT_PLACES_H

#include "../pool/page.h"
#include "../store/store_place.h"
#include "health.h"

struct places;

struct places_options {
    const struct health *health;
    int64_t trust_us, lease_us;
};

struct places *places_new(const struct places_options *options);    /* NULL: out of memory */
void places_free(struct places *p);                                 /* NULL is fine */

/* ---- checks ---- */

/* A check that waits has a concurrency key: it waits for a place from now on, which is to last for
 * `lasts_s` at least. */
enum places_added { PLACES_WAITS, PLACES_CROWDED, PLACES_NO_MEMORY };
enum places_added places_add(struct places *p, struct page *page, int index, int32_t lasts_s);
/* Some checks of the page that were admitted are over: the next ones are. */
void places_collect(struct places *p, struct page *page);
/* What waits in it does so no more. What has been admitted and runs keeps its place until it is
 * over. Before the page is dropped, and before it is freed. */
void places_leave(struct places *p, struct page *page);

/* The next check that was found busy for so long that it is put off, up to `most_s` seconds. NULL:
 * there is none. */
struct keyed_check *places_next_busy(struct places *p, int64_t *most_s);
/* How long it may be put off that was found crowded. */
int64_t places_crowded_s(const struct places *p, const char *key);

/* ---- calls ---- */

enum places_call { PLACES_TAKE, PLACES_RENEW, PLACES_RETURN, PLACES_CALLS };

/* Whether such a call is to be made, and none of its kind is under way. */
bool places_due(const struct places *p, enum places_call call, int64_t now_us);
/* When one may be due next. */
int64_t places_next_us(const struct places *p);
/* Begins the call: what it is about, valid until it has ended. */
struct store_place *places_begin(struct places *p, enum places_call call, int *n, int64_t now_us,
                                 int64_t boot_us);
/* It has ended; `worked`: and did not fail. */
void places_taken(struct places *p, bool worked, int64_t now_us);
void places_renewed(struct places *p, bool worked, int64_t now_us);
void places_returned(struct places *p, bool worked, int64_t now_us);
/* The next check whose place was lost in a renewal. NULL: there is none. If no worker has it, it is
 * to be taken back, and waits for another place. */
struct keyed_check *places_next_lost(struct places *p);
void places_take_back(struct places *p, struct keyed_check *k);

/* Until when checks may be started under any of the places held (CLOCK_BOOTTIME); INT64_MAX: none
 * is held. */
int64_t places_trust_until_us(const struct places *p);
bool places_hold_nothing(const struct places *p);

#endif
