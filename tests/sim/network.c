/* network.c - the steps of a call: connect, request, statement, commit, answer. Each is an event
 * that may come late or never. */
#include "network.h"

#include <stdlib.h>
#include <string.h>

#include "checker.h"
#include "faults.h"
#include "host.h"

enum { LOCK_POLL_US = 10 * 1000, LOCK_TIMEOUT_US = 250 * 1000 };

void network_make(struct world *w)
{
    struct network *net = w->network = calloc(1, sizeof *net);
    if (!net)
        abort();
    bool bad = !w->shape.calm && !w->shape.prompt && world_chance(w, 400),
         far = !w->shape.prompt && world_chance(w, 200);
    net->weather = (struct weather){ .latency_us = 100, .latency_most_us = far ? 200 * MS_US : 2 * MS_US,
                                     .commit_us = 100, .commit_most_us = 5 * MS_US };
    net->weather.delay_release = w->shape.calm || w->shape.prompt ? 0 : 200;
    if (bad) {
        struct weather *now = &net->weather;
        int *const chances[] = { &now->lose_request, &now->lose_answer, &now->reset,      &now->delay,
                                 &now->refuse_busy,  &now->refuse_data, &now->refuse_lost };
        for (size_t i = 0; i < sizeof chances / sizeof *chances; i++)
            *chances[i] = world_chance(w, 400) ? (int)world_between(w, 1, 30) : 0;
    }
}

/* ---- messages ---- */

static struct message *message_new(struct network *net)
{
    struct message *m = net->spare;
    if (m)
        net->spare = m->spare;
    else if ((m = calloc(1, sizeof *m))) {
        m->older = net->newest;
        net->newest = m;
    } else
        abort();
    m->link = NULL;
    m->tx = NULL;
    m->served = m->arrived = m->lose_answer = false;
    m->answer_delay_us = 0;
    m->rc = 0;
    m->npage = 0;
    return m;
}

/* No further event is due for this message. */
static void message_over(struct network *net, struct message *m)
{
    if (m->link && m->link->sent == m)
        m->link->sent = NULL;
    m->link = NULL;
    m->spare = net->spare;
    net->spare = m;
}

static int64_t latency(struct world *w)
{
    const struct weather *now = &w->network->weather;
    return world_between(w, now->latency_us, now->latency_most_us);
}

static void forget_message(struct link *l)
{
    struct message *m = l->sent;
    l->sent = NULL;
    if (!m)
        return;
    m->link = NULL;
    if (m->arrived)
        message_over(host_world(l->host)->network, m);
}

static void disconnect(struct link *l)
{
    forget_message(l);
    l->connected = l->connecting = l->broken = false;
    l->connection = 0;
}

/* ---- the database's side ---- */

static void answer_comes(struct world *w, void *arg, uint64_t connection)
{
    struct message *m = arg;
    if (!m->link || m->link->connection != connection) {
        message_over(w->network, m);
        return;
    }
    m->arrived = true;
    host_wake(m->link->host, w->now_us);
}

static void answer_leaves(struct world *w, struct message *m)
{
    m->served = true;
    if (m->rc)
        world_log(w, "host %d: %s is refused (%d): %s", m->host, message_name(m->op), m->rc,
                   m->error_text ? m->error_text : "");
    bool lost = m->lose_answer || (m->link && host_is_cut(m->link->host, true));
    if (!m->link || lost) {
        if (lost && m->link)
            world_log(w, "answer to %s of host %d is lost", message_name(m->op), m->host);
        message_over(w->network, m);
        return;
    }
    world_after(w, latency(w) + m->answer_delay_us, answer_comes, m, m->connection);
}

static void commits(struct world *w, void *arg, uint64_t tag)
{
    struct message *m = arg;
    (void)tag;
    if (!m->tx) {                   /* the database went down in between */
        message_over(w->network, m);
        return;
    }
    if (w->now_us < w->db->commits_hang_until_us) {
        world_at(w, w->db->commits_hang_until_us + world_between(w, 0, MS_US), commits, m, 0);
        return;
    }
    world_log(w, "host %d: %s is committed (%lld)", m->host, message_name(m->op), (long long)m->tx->xid);
    tx_commit(w->db, m->tx);
    answer_leaves(w, m);
}

static void end_statement(struct world *w, struct message *m)
{
    if (m->tx)
        tx_roll_back(w->db, m->tx);
    answer_leaves(w, m);
}

static int draw_refusal(struct world *w, enum store_op op)
{
    const struct weather *now = &w->network->weather;
    if (world_chance(w, now->refuse_lost))
        return ERR_LOST;
    if (world_chance(w, now->refuse_busy))
        return ERR_BUSY;
    return op == STORE_SETTLE && world_chance(w, now->refuse_data) ? ERR_DATA : 0;
}

static bool is_refused(struct world *w, struct message *m)
{
    m->rc = draw_refusal(w, m->op);
    m->error_text = "refused by chance";
    if (m->rc)
        checker_event(w, m->host, -1, 1, "a call was refused");
    return m->rc != 0;
}

static void serve(struct world *w, void *arg, uint64_t tag)
{
    struct message *m = arg;
    const struct weather *now = &w->network->weather;
    (void)tag;
    if (tag && !m->tx) {            /* the database went down while it waited for a lock */
        message_over(w->network, m);
        return;
    }
    if (!tag && is_refused(w, m)) {
        end_statement(w, m);
        return;
    }
    enum served how = db_serve(w->db, m);
    if (how == BLOCKED && w->now_us - m->arrived_us >= LOCK_TIMEOUT_US) {
        m->rc = ERR_BUSY;
        m->error_text = "canceling statement due to lock timeout";
        end_statement(w, m);
    } else if (how == BLOCKED) {
        /* A settle keeps the rows that it has locked: two settles may wait for each other. */
        (m->op == STORE_SETTLE ? tx_undo_rows : tx_forget_rows)(message_tx(w->db, m));
        world_after(w, LOCK_POLL_US, serve, m, 1);
    } else if (how == COMMITS) {
        m->tx->committing = true;
        world_after(w, world_between(w, now->commit_us, now->commit_most_us), commits, m, 0);
    } else
        end_statement(w, m);
}

/* Finds a link by its connection, because the link may be gone when an event comes. */
static struct link *link_of(const struct world *w, uint64_t connection)
{
    for (struct link *l = w->network->links; l; l = l->following)
        if (l->connection == connection)
            return l;
    return NULL;
}

static void reset_comes(struct world *w, void *arg, uint64_t connection)
{
    struct link *l = link_of(w, connection);
    (void)arg;
    if (!l)
        return;
    l->broken = true;
    host_wake(l->host, w->now_us);
}

static void arrives(struct world *w, void *arg, uint64_t connection)
{
    struct message *m = arg;
    m->arrived_us = w->now_us;
    if (w->now_us < w->db->down_until_us) {
        world_after(w, latency(w), reset_comes, NULL, connection);
        message_over(w->network, m);
        return;
    }
    serve(w, m, 0);
}

/* ---- sending ---- */

static void lose_request(struct world *w, struct message *m)
{
    world_log(w, "host %d: request %s is lost", m->host, message_name(m->op));
    checker_event(w, m->host, -1, 1, "a request was lost");
    message_over(w->network, m);
}

static bool is_under_a_lease(enum store_op op)
{
    return op == STORE_OPEN_SLOT || op == STORE_RENEW || op == STORE_READ_PAGE || op == STORE_SETTLE ||
           op == STORE_FINISH || op == STORE_RELEASE || op == STORE_TAKE_PLACES ||
           op == STORE_RENEW_PLACES || op == STORE_RETURN_PLACES;
}

/* The timeout of a call. On a dead connection the lease would expire during a longer wait. After a
 * timeout the next call may wait longer. */
static int64_t wait_us(struct link *l, enum store_op op)
{
    int64_t within = l->call->within_ms * MS_US,
            us = within && within < l->statement_timeout_us ? within : l->statement_timeout_us;
    int64_t lease = l->host->settings.lease_us;
    if (is_under_a_lease(op) && us > (lease << (l->timeouts[op] < 10 ? l->timeouts[op] : 10)))
        world_violate(host_world(l->host),
                      "host %d waits %lld ms for an answer to %s, longer than its leases of %lld ms",
                      host_number(l->host), (long long)us / 1000, message_name(op), (long long)lease / 1000);
    return us;
}

static void send_call(struct link *l)
{
    struct world *w = host_world(l->host);
    const struct weather *now = &w->network->weather;
    struct message *m = message_new(w->network);
    /* The copy is made now: until here the caller keeps the call valid. */
    message_take(m, l->call);
    m->link = l;
    m->db = w->db;
    m->connection = l->connection;
    m->host = host_number(l->host);
    m->start = l->host->starts;
    m->sent_boot_us = clock_boot_us(l->head.clock);
    l->sent = m;
    l->deadline_us = clock_mono_us(l->head.clock) + wait_us(l, m->op);
    int64_t on_its_way = latency(w);
    faults_moment(w, l->host);
    if (host_is_cut(l->host, false) || world_chance(w, now->lose_request)) {
        lose_request(w, m);
        return;
    }
    /* Releases are few, and do most harm when another engine has the lease, or the place, by
     * then. */
    bool releases = m->op == STORE_RELEASE || m->op == STORE_RETURN_PLACES;
    if (world_chance(w, releases ? now->delay_release : now->delay)) {
        on_its_way += releases ? world_between(w, 4, 9) * SECOND_US : world_between(w, 0, 40 * SECOND_US);
        checker_event(w, m->host, -1, 1, "a request came late");
    }
    if (world_chance(w, now->lose_answer)) {
        m->lose_answer = true;
        checker_event(w, m->host, -1, 1, "an answer was lost");
    }
    if (world_chance(w, now->reset)) {
        checker_event(w, m->host, -1, 1, "a connection was reset");
        world_after(w, on_its_way + world_between(w, 0, 10 * MS_US), reset_comes, NULL, l->connection);
    }
    world_after(w, on_its_way, arrives, m, l->connection);
}

static void connect_ends(struct world *w, void *arg, uint64_t connection)
{
    struct link *l = link_of(w, connection);
    (void)arg;
    if (!l || !l->connecting || host_is_cut(l->host, false) || host_is_cut(l->host, true))
        return;                     /* the deadline ends the call */
    l->connecting = false;
    if (w->now_us < w->db->down_until_us) {
        l->broken = true;
        host_wake(l->host, w->now_us);
        return;
    }
    l->connected = true;
    send_call(l);
}

/* ---- the store that an engine sees ---- */

static void sim_begin(struct store *st, struct store_call *call)
{
    struct link *l = (struct link *)st;
    struct world *w = host_world(l->host);
    l->call = call;
    if (l->broken)
        disconnect(l);
    if (l->connected) {
        send_call(l);
        return;
    }
    l->connecting = true;
    l->connection = ++w->network->connections;
    l->deadline_us = clock_mono_us(st->clock) + l->connect_timeout_us;
    world_after(w, 3 * latency(w), connect_ends, NULL, l->connection);
}

static bool end_call(struct link *l, int rc, const char *text)
{
    l->call->rc = err_set(&l->call->err, rc, "%s", text);
    l->call = NULL;
    disconnect(l);
    return true;
}

static bool time_out(struct link *l)
{
    struct store_call *call = l->call;
    bool was_connected = l->connected;
    end_call(l, ERR_LOST, "no answer from the database within its time; the connection is closed");
    call->err.reason = was_connected ? ERR_REASON_TIMEOUT : ERR_REASON_NONE;
    l->timeouts[call->op] += was_connected;
    return true;
}

/* The session survives these results; any other failure ends it. */
static bool is_session_good(int rc)
{
    return rc == 0 || rc == ERR_BUSY || rc == ERR_DATA || rc == ERR_FENCED;
}

static bool sim_step(struct store *st)
{
    struct link *l = (struct link *)st;
    struct message *m = l->sent;
    if (!l->call)
        return true;
    if (clock_mono_us(st->clock) >= l->deadline_us)
        return time_out(l);
    if (m && m->arrived) {
        l->call->rc = message_give(m, l->call);
        if (m->op == STORE_HELLO && !m->rc)
            st->slot_length_s = m->u.hello.slot_length_s;
        bool good = is_session_good(m->rc);
        if (!m->rc)
            l->timeouts[m->op] = 0;
        l->call = NULL;
        l->sent = NULL;
        message_over(host_world(l->host)->network, m);
        if (!good)
            disconnect(l);
        return true;
    }
    return l->broken ? end_call(l, ERR_LOST, "the connection to the database was lost") : false;
}

/* It is not polled: host.c wakes the engine. */
static int sim_fd(const struct store *st)
{
    (void)st;
    return 0;
}

static short sim_wants(const struct store *st)
{
    (void)st;
    return 0;
}

static int64_t sim_deadline_us(const struct store *st)
{
    const struct link *l = (const struct link *)st;
    return l->call ? l->deadline_us : INT64_MAX;
}

static void sim_abandon(struct store *st)
{
    struct link *l = (struct link *)st;
    if (l->call)
        end_call(l, ERR_LOST, "abandoned: the effect of the call is unknown");
}

static void sim_close(struct store *st)
{
    struct link *l = (struct link *)st;
    struct network *net = host_world(l->host)->network;
    disconnect(l);
    for (struct link **at = &net->links; *at; at = &(*at)->following)
        if (*at == l) {
            *at = l->following;
            break;
        }
    free(l);
}

static const struct store_ops sim_ops = {
    .scheme = "simulated",
    .close = sim_close,
    .begin = sim_begin,
    .step = sim_step,
    .fd = sim_fd,
    .wants = sim_wants,
    .deadline_us = sim_deadline_us,
    .abandon = sim_abandon,
};

int network_open_store(const struct store_options *options, struct store **out, struct err *err)
{
    struct link *l = calloc(1, sizeof *l);
    if (!l)
        return err_set(err, ERR_NOMEM, "out of memory");
    l->head = (struct store){ .ops = &sim_ops, .clock = options->clock };
    l->host = options->clock->ctx;
    l->connect_timeout_us = options->connect_timeout_ms * MS_US;
    l->statement_timeout_us = options->statement_timeout_ms * MS_US;
    struct network *net = host_world(l->host)->network;
    l->following = net->links;
    net->links = l;
    *out = &l->head;
    return 0;
}

/* ---- faults of connections ---- */

void network_reset(struct world *w, const struct host *host)
{
    for (struct link *l = w->network->links; l; l = l->following)
        if (l->connection && (!host || l->host == host) && !host_is_cut(l->host, true)) {
            l->broken = true;
            host_wake(l->host, w->now_us);
        }
}

void network_end_sessions(struct world *w, const struct host *host)
{
    for (struct tx *tx = w->db->running, *next; tx; tx = next) {
        next = tx->following;
        if (tx->host == host->number && !tx->committing)
            tx_roll_back(w->db, tx);
    }
    network_reset(w, host);
}

void network_restart_db(struct world *w, int64_t until_us)
{
    w->db->down_until_us = until_us;
    w->db->incarnation++;
    w->db->generation_is_new = true;
    db_go_down(w->db);
    network_reset(w, NULL);
}

void network_free(struct world *w)
{
    struct network *net = w->network;
    for (struct message *m = net->newest, *next; m; m = next) {
        next = m->older;
        free(m->settlements);
        free(m);
    }
    free(net);
}
