/* network.h - the network between engines and database: connections, and messages that come late,
 * once, or never. The engine's side of a connection is a store with the interface of
 * engine/store/store_ops.h. */
#ifndef PRESCIENT_SIM_NETWORK_H
#define PRESCIENT_SIM_NETWORK_H

#include "../../engine/store/store_ops.h"
#include "message.h"
#include "world.h"

struct link {
    struct store head;
    struct host *host;
    int64_t connect_timeout_us, statement_timeout_us, deadline_us;
    /* broken: the other end has reset it; the next step returns that */
    bool connected, connecting, broken;
    /* its number: answers that come over an older connection are dropped */
    uint64_t connection;
    struct store_call *call;                /* NULL: idle */
    int timeouts[STORE_OPS];                /* for each kind of call, how many in a row timed out */
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
    struct message *newest, *spare;         /* all messages; unused ones */
    struct link *links;
};

void network_make(struct world *w);
void network_free(struct world *w);

/* For engine_options. The clock in the options leads to the host. */
int network_open_store(const struct store_options *options, struct store **out, struct err *err);

/* Cuts all connections of a host (NULL: of all hosts). Calls that wait fail. */
void network_reset(struct world *w, const struct host *host);
/* Ends the sessions of a host and rolls back their open transactions. */
void network_end_sessions(struct world *w, const struct host *host);
/* Takes the database down until `until_us`: transactions are rolled back, connections end. */
void network_restart_db(struct world *w, int64_t until_us);

#endif
