#pragma once
#include <errno.h>
#include <libpq-fe.h>
#include <string.h>
#include <sys/epoll.h>

/// Fields of an error; NULL where the server sent none. Their names are character literals in postgres_ext.h, which Swift does not import.
static inline const char *volley_pg_sqlstate(const PGresult *result) { return PQresultErrorField(result, PG_DIAG_SQLSTATE); }
static inline const char *volley_pg_message(const PGresult *result) { return PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY); }
static inline const char *volley_pg_hint(const PGresult *result) { return PQresultErrorField(result, PG_DIAG_MESSAGE_HINT); }
static inline const char *volley_pg_position(const PGresult *result) { return PQresultErrorField(result, PG_DIAG_STATEMENT_POSITION); }

/// Whether a notice says that a commit was acknowledged although no standby confirmed it, as somebody cancelled the wait. Source: PostgreSQL's
/// SyncRepWaitForLSN; its SQLSTATE is that of every warning, and its text depends on the server's language.
static inline int volley_pg_is_unconfirmed_commit(const PGresult *notice) {
    const char *function = PQresultErrorField(notice, PG_DIAG_SOURCE_FUNCTION);
    return function != NULL && strcmp(function, "SyncRepWaitForLSN") == 0;
}

/// A descriptor that is readable when the sockets that it watches are ready; -1 with errno if no more files can be opened. Source: epoll(7),
/// which Swift's module of the C library leaves out.
static inline int volley_open_readiness(void) { return epoll_create1(EPOLL_CLOEXEC); }

/// Watches a socket, and no longer what was watched of it before; 0, or -1 with errno.
static inline int volley_watch(int readiness, int socket, int for_reading, int for_writing) {
    struct epoll_event event = {.events = (for_reading ? EPOLLIN : 0) | (for_writing ? EPOLLOUT : 0)};
    if (epoll_ctl(readiness, EPOLL_CTL_MOD, socket, &event) == 0) return 0;
    return errno == ENOENT ? epoll_ctl(readiness, EPOLL_CTL_ADD, socket, &event) : -1;
}
