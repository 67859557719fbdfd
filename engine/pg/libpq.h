/* libpq.h - libpq is loaded when it is first needed, not when a program starts: with the libraries
 * that it brings (TLS, Kerberos, LDAP) it takes four fifths of the start of a process, and most
 * processes of ours, workers above all, never speak to a PostgreSQL. */
#ifndef PRESCIENT_LIBPQ_H
#define PRESCIENT_LIBPQ_H

#include <libpq-fe.h>

#include "../base/err.h"

/* Before the first function of libpq is called; again is cheap. ERR_SETTINGS: libpq is not
 * installed, or lacks a function. */
int libpq_load(struct err *err);

#endif
