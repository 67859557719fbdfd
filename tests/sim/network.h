/* network.h - what lies between engines and database: connections, and messages that come late,
 * once, or never. The engine's side of a connection is a store as engine/store/store_ops.h wants
 * it. */
#ifndef PRESCIENT_SIM_NETWORK_H
#define PRESCIENT_SIM_NETWORK_H

#include "../../engine/store/store_ops.h"
#include "message.h"
#include "world.h"

struct link {
    struct store head;
    struct host *host;
    int64_t connect_timeout_us, statement_timeout_us, deadline_us;
    /* broken: the other end said so, and it will be seen at the next step */
    bool connected, connecting, broken;
    /* its number: an answer that comes by an older one goes nowhere */
    uint64_t connection;
    struct store_call *call;                /* NULL: idle */
    int late[STORE_OPS];                    /* how often in a row such a call was not answered in its time */
    struct message *sent;
    struct link *following;
};

/* How the network and the database behave at this moment; chances are per mille of messages. */
struct weather {
    int64_t latency_us, latency_most_us;
    int64_t commit_us, commit_most_us;
    int lose_request, lose_answer, reset, delay, delay_release;
    int refuse_busy, refuse_data, refuse_lost;
};

struct network {
    struct weather weather;
    uint64_t connections;
    struct message *newest, *spare;         /* all there are; those not in use */
    struct link *links;
};

void network_make(struct world *w);
void network_free(struct world *w);

/* What engine_options wants: the host is found by the clock it brings. */
int network_open_store(const struct store_options *options, struct store **out, struct err *err);

/* All connections of a host (NULL: of all hosts) are cut; whoever waits hears of it. */
void network_reset(struct world *w, const struct host *host);
/* The database ends the sessions of a host: what they had not committed is rolled back. */
void network_end_sessions(struct world *w, const struct host *host);
/* The database goes down until then: transactions are rolled back, connections end. */
void network_restart_db(struct world *w, int64_t until_us);

#endif
