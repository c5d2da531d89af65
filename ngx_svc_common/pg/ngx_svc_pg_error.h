/*
 * The meaning of PostgreSQL's errors, and the logging of them.
 */

#ifndef _NGX_SVC_PG_ERROR_H_INCLUDED_
#define _NGX_SVC_PG_ERROR_H_INCLUDED_


#include "ngx_svc_common.h"


/*
 * Returns libpq's message on one line, in a buffer that the next call
 * overwrites.
 */
NGX_SVC_API ngx_str_t ngx_svc_pg_message(const char *message);

/*
 * Logs "what: text" at the level; the same text once a minute in one worker,
 * and at info in between.
 */
NGX_SVC_API void ngx_svc_pg_log(ngx_uint_t level, const char *what,
    ngx_str_t *text);

/* Returns 1 if an SQLSTATE means that the same may succeed later. */
ngx_uint_t ngx_svc_pg_transient(const char *state);

/*
 * Returns 1 if an SQLSTATE means that the connection is of no more use, and a
 * new one may be.
 */
ngx_uint_t ngx_svc_pg_stale(const char *state);

/* Forgets which texts have been logged: they are logged again. */
void ngx_svc_pg_log_reset(void);


#endif /* _NGX_SVC_PG_ERROR_H_INCLUDED_ */
