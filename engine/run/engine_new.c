/* engine_new.c - an engine is made: its name, its parts, and what each is given of the others. */
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "../pool/spawn.h"
#include "engine_state.h"
#include "lane.h"

/* 128 random bits a process start; of a simulated one those that follow from its seed. */
static int draw_owner(struct engine *e, struct err *err)
{
    e->random = e->o.seed;
    if (e->o.seed) {
        for (size_t i = 0; i < sizeof e->owner; i++)
            e->owner[i] = (unsigned char)random_next(&e->random);
        return 0;
    }
    if (getrandom(e->owner, sizeof e->owner, 0) != (ssize_t)sizeof e->owner ||
        getrandom(&e->random, sizeof e->random, 0) != (ssize_t)sizeof e->random)
        return err_sys(err, ERR_GENERAL, "getrandom");
    return 0;
}

static void draw_name(struct engine *e)
{
    char host[64] = "localhost";
    const char *configured = e->o.settings->engine_name;
    gethostname(host, sizeof host - 1);
    snprintf(e->name, sizeof e->name, "%s/%d", configured ? configured : host, (int)getpid());
}

static int make_pool(struct engine *e, struct err *err)
{
    struct pool_options options = {
        .settings = e->o.settings,
        .program = e->o.worker_program,
        .clock = e->o.clock,
        .spawner = e->o.spawner,
        .seed = random_next(&e->random),
        .log = e->o.log,
        .agenda = &e->agenda,
        .events = { .answered = engine_answered, .ready = engine_workers_ready, .ctx = e },
        .kin = e->o.kin,
    };
    return pool_new(&options, &e->pool, err);
}

/* A replay runs one slot after another. Its SQLite connection also keeps a transaction open over
 * several calls, for which another one would wait. */
static bool has_fine_lane(const struct engine *e)
{
    return !e->o.relaxed;
}

/* ---- what lanes and plans are given ---- */

static int make_places(struct engine *e, struct err *err)
{
    e->places = places_new(&(struct places_options){
        .health = &e->health,
        .trust_us = e->o.settings->trust_us,
        .lease_us = e->o.settings->lease_us,
    });
    return e->places ? 0 : err_set(err, ERR_NOMEM, "out of memory for the engine");
}

static int make_run_hours(struct engine *e, struct err *err)
{
    e->run_hours = run_hours_new(e->owner);
    bool is_made = e->run_hours && measuring_init(&e->measuring, &e->o.metrics) == 0;
    return is_made ? 0 : err_set(err, ERR_NOMEM, "out of memory for the engine");
}

static void connect_parts(struct engine *e)
{
    e->long_runs = (struct long_runs){ .pool = e->pool, .clocks = &e->clocks, .owner = e->owner };
    struct targets *fine_targets = has_fine_lane(e) ? &e->fine_targets : &e->targets;
    struct errands *fine_errands = has_fine_lane(e) ? &e->fine_errands : &e->errands;
    e->lane_env = (struct lane_env){
        .settings = e->o.settings,
        .log = e->o.log,
        .clock = e->o.clock,
        .patient = e->o.patient,
        .leaves_deliveries = e->o.leaves_deliveries,
        .owner = e->owner,
        .lanes = &e->lanes,
        .agenda = &e->agenda,
        .pool = e->pool,
        .clocks = &e->clocks,
        .targets = &e->targets,
        .watch = &e->watch,
        .cooldowns = &e->cooldowns,
        .health = &e->health,
        .jobs = &e->jobs,
        .pace = &e->pace,
        .pausing = &e->pausing,
        .places = e->places,
        .run_hours = e->run_hours,
        .long_runs = &e->long_runs,
        .measuring = &e->measuring,
        .errands = &e->errands,
        .shutdown = &e->shutdown,
        .totals = &e->totals,
        .trouble = &e->trouble,
        .zones = &e->zones,
        .terms_memo = &e->terms_memo,
        .random = &e->random,
        .events = { engine_target_over, engine_errand_done, engine_fatal, e },
    };
    e->fine_lane_env = e->lane_env;
    e->fine_lane_env.targets = &e->fine_targets;
    e->fine_lane_env.errands = &e->fine_errands;
    e->plan_env = (struct plan_env){
        .trouble = &e->trouble,
        .settings = e->o.settings,
        .log = e->o.log,
        .supervisor = e->o.supervisor,
        .clock = e->o.clock,
        .patient = e->o.patient,
        .clocks = &e->clocks,
        .targets = &e->targets,
        .fine_targets = fine_targets,
        .errands = &e->errands,
        .fine_errands = fine_errands,
        .jobs = &e->jobs,
        .cooldowns = &e->cooldowns,
        .health = &e->health,
        .shutdown = &e->shutdown,
        .totals = &e->totals,
        .pausing = &e->pausing,
        .run_hours = e->run_hours,
        .long_runs = &e->long_runs,
        .measuring = &e->measuring,
        .agenda = &e->agenda,
        .wake = &e->wake_plan,
        .is_idle = engine_is_idle,
        .engine = e,
    };
}

/* ---- lanes ---- */

static struct store_options store_options_of(const struct engine *e)
{
    const struct settings *s = e->o.settings;
    struct store_options options = store_options_from(s);
    options.engine = e->name;
    options.silence_ms = (int)(s->lease_us / 1000);
    options.relaxed = e->o.relaxed;
    options.clock = e->o.clock;
    return options;
}

static int connections_of(const struct settings *s)
{
    if (s->connections)
        return s->connections;
    bool is_sqlite = !strncmp(s->store, "sqlite:", 7);
    return is_sqlite ? 1 : 2;
}

static int open_lanes(struct engine *e, struct err *err)
{
    struct store_options options = store_options_of(e);
    int full = connections_of(e->o.settings), wanted = full + has_fine_lane(e);
    e->lanes.all = calloc((size_t)wanted, sizeof *e->lanes.all);
    if (!e->lanes.all)
        return err_set(err, ERR_NOMEM, "out of memory for %d store connections", wanted);
    for (int i = 0; i < wanted; i++) {
        struct lane *l = &e->lanes.all[i];
        lane_init(l, i < full ? &e->lane_env : &e->fine_lane_env, i);
        int rc = e->o.open_store(&options, &l->store, err);
        if (rc)
            return rc;
        e->lanes.n++;
    }
    return 0;
}

/* ---- all of it ---- */

static int set_up(struct engine *e, struct err *err)
{
    draw_name(e);
    int rc = draw_owner(e, err);
    if (rc)
        return rc;
    rc = jobs_init(&e->jobs, e->o.settings, err);
    if (rc)
        return rc;
    rc = make_pool(e, err);
    if (rc)
        return rc;
    rc = make_places(e, err);
    if (rc)
        return rc;
    rc = make_run_hours(e, err);
    if (rc)
        return rc;
    connect_parts(e);
    return open_lanes(e, err);
}

int engine_new(const struct engine_options *options, struct engine **out, struct err *err)
{
    struct engine *e = calloc(1, sizeof *e);
    if (!e)
        return err_set(err, ERR_NOMEM, "out of memory for the engine");
    e->o = *options;
    if (!e->o.clock)
        e->o.clock = &clock_system;
    if (!e->o.spawner)
        e->o.spawner = &spawner_system;
    if (!e->o.open_store)
        e->o.open_store = store_new;
    pausing_init(&e->pausing);
    e->targets.agenda = e->fine_targets.agenda = &e->agenda;
    e->clocks.virtual_now = options->virtual_now;
    e->trouble = (struct trouble){ .settings = e->o.settings, .log = e->o.log };
    int rc = set_up(e, err);
    if (rc) {
        engine_free(e);
        return rc;
    }
    *out = e;
    return 0;
}

void engine_free(struct engine *e)
{
    if (!e)
        return;
    pool_free(e->pool);                 /* first: pages outlive the workers that hold their checks */
    for (int i = 0; i < e->lanes.n; i++)
        lane_release(&e->lanes.all[i]);
    free(e->lanes.all);
    places_free(e->places);
    run_hours_free(e->run_hours);
    measuring_release(&e->measuring);
    targets_release(&e->targets);
    targets_release(&e->fine_targets);
    jobs_release(&e->jobs);
    pausing_release(&e->pausing, &e->agenda);
    notifying_release(&e->notifying, &e->agenda);
    trouble_release(&e->trouble);
    zones_release(&e->zones);
    free(e);
}
