/*
 * What PostgreSQL's errors mean, and how they are logged.
 */

#ifndef _NGX_SVC_PG_ERROR_H_INCLUDED_
#define _NGX_SVC_PG_ERROR_H_INCLUDED_


#include "ngx_svc_common.h"


/*
 * libpq's message on one line, in a buffer that the next call overwrites.
 */
NGX_SVC_API ngx_str_t ngx_svc_pg_message(const char *message);

/*
 * Logs "what: text" at the level, but once a minute for the same text in one
 * worker: at info in between.
 */
NGX_SVC_API void ngx_svc_pg_log(ngx_uint_t level, const char *what,
    ngx_str_t *text);

/*
 * Whether an SQLSTATE says that the same may work later; whether it says that
 * the session is of no more use and another one may be; and all that has been
 * logged is to be logged again.
 */
ngx_uint_t ngx_svc_pg_transient(const char *state);
ngx_uint_t ngx_svc_pg_stale(const char *state);
void ngx_svc_pg_log_reset(void);


#endif /* _NGX_SVC_PG_ERROR_H_INCLUDED_ */
