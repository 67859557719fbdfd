/* libpq_functions.h - the functions of libpq that the program calls: FUNCTION(RESULT, NAME,
 * PARAMETERS, ARGUMENTS). Included where each becomes something; the compiler compares them with
 * what libpq's own header says. */
FUNCTION(int, PQbackendPID, (const PGconn *conn), (conn))
FUNCTION(void, PQclear, (PGresult *res), (res))
FUNCTION(PostgresPollingStatusType, PQconnectPoll, (PGconn *conn), (conn))
FUNCTION(PGconn *, PQconnectStartParams,
         (const char *const *keywords, const char *const *values, int expand),
         (keywords, values, expand))
FUNCTION(PGconn *, PQconnectdbParams,
         (const char *const *keywords, const char *const *values, int expand),
         (keywords, values, expand))
FUNCTION(int, PQconnectionNeedsPassword, (const PGconn *conn), (conn))
FUNCTION(void, PQconninfoFree, (PQconninfoOption *options), (options))
FUNCTION(PQconninfoOption *, PQconninfoParse, (const char *text, char **message), (text, message))
FUNCTION(int, PQconsumeInput, (PGconn *conn), (conn))
FUNCTION(char *, PQdb, (const PGconn *conn), (conn))
FUNCTION(int, PQenterPipelineMode, (PGconn *conn), (conn))
FUNCTION(char *, PQerrorMessage, (const PGconn *conn), (conn))
FUNCTION(char *, PQescapeIdentifier, (PGconn *conn, const char *text, size_t size), (conn, text, size))
FUNCTION(PGresult *, PQexec, (PGconn *conn, const char *query), (conn, query))
FUNCTION(PGresult *, PQexecParams,
         (PGconn *conn, const char *query, int n, const Oid *types, const char *const *values,
          const int *lengths, const int *formats, int format),
         (conn, query, n, types, values, lengths, formats, format))
FUNCTION(int, PQexitPipelineMode, (PGconn *conn), (conn))
FUNCTION(void, PQfinish, (PGconn *conn), (conn))
FUNCTION(int, PQflush, (PGconn *conn), (conn))
FUNCTION(char *, PQfname, (const PGresult *res, int column), (res, column))
FUNCTION(void, PQfreemem, (void *memory), (memory))
FUNCTION(Oid, PQftype, (const PGresult *res, int column), (res, column))
FUNCTION(PGresult *, PQgetResult, (PGconn *conn), (conn))
FUNCTION(int, PQgetisnull, (const PGresult *res, int row, int column), (res, row, column))
FUNCTION(int, PQgetlength, (const PGresult *res, int row, int column), (res, row, column))
FUNCTION(char *, PQgetvalue, (const PGresult *res, int row, int column), (res, row, column))
FUNCTION(int, PQisBusy, (PGconn *conn), (conn))
FUNCTION(int, PQlibVersion, (void), ())
FUNCTION(int, PQnfields, (const PGresult *res), (res))
FUNCTION(PGnotify *, PQnotifies, (PGconn *conn), (conn))
FUNCTION(int, PQntuples, (const PGresult *res), (res))
FUNCTION(const char *, PQparameterStatus, (const PGconn *conn, const char *name), (conn, name))
FUNCTION(int, PQpipelineSync, (PGconn *conn), (conn))
FUNCTION(PGresult *, PQprepare,
         (PGconn *conn, const char *name, const char *query, int n, const Oid *types),
         (conn, name, query, n, types))
FUNCTION(int, PQputCopyData, (PGconn *conn, const char *data, int size), (conn, data, size))
FUNCTION(int, PQputCopyEnd, (PGconn *conn, const char *message), (conn, message))
FUNCTION(char *, PQresultErrorField, (const PGresult *res, int field), (res, field))
FUNCTION(char *, PQresultErrorMessage, (const PGresult *res), (res))
FUNCTION(ExecStatusType, PQresultStatus, (const PGresult *res), (res))
FUNCTION(int, PQsendPrepare,
         (PGconn *conn, const char *name, const char *query, int n, const Oid *types),
         (conn, name, query, n, types))
FUNCTION(int, PQsendQuery, (PGconn *conn, const char *query), (conn, query))
FUNCTION(int, PQsendQueryParams,
         (PGconn *conn, const char *query, int n, const Oid *types, const char *const *values,
          const int *lengths, const int *formats, int format),
         (conn, query, n, types, values, lengths, formats, format))
FUNCTION(int, PQsendQueryPrepared,
         (PGconn *conn, const char *name, int n, const char *const *values, const int *lengths,
          const int *formats, int format),
         (conn, name, n, values, lengths, formats, format))
FUNCTION(int, PQserverVersion, (const PGconn *conn), (conn))
FUNCTION(PGVerbosity, PQsetErrorVerbosity, (PGconn *conn, PGVerbosity verbosity), (conn, verbosity))
FUNCTION(PQnoticeReceiver, PQsetNoticeReceiver,
         (PGconn *conn, PQnoticeReceiver receiver, void *arg),
         (conn, receiver, arg))
FUNCTION(int, PQsetnonblocking, (PGconn *conn, int arg), (conn, arg))
FUNCTION(int, PQsocket, (const PGconn *conn), (conn))
FUNCTION(ConnStatusType, PQstatus, (const PGconn *conn), (conn))
FUNCTION(PGTransactionStatusType, PQtransactionStatus, (const PGconn *conn), (conn))
FUNCTION(char *, PQuser, (const PGconn *conn), (conn))
