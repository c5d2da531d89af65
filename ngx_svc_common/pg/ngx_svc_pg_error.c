/*
 * What PostgreSQL's errors mean, and how they are told.
 */

#include "ngx_svc_pg_conn.h"


#define NGX_SVC_PG_SAID          8      /* different texts remembered */
#define NGX_SVC_PG_SAID_SECONDS  60
#define NGX_SVC_PG_MESSAGE       1024   /* bytes */


typedef struct {
    uint32_t  hash;
    time_t    time;
} ngx_svc_pg_said_t;


static ngx_uint_t ngx_svc_pg_state_in(const char *state,
    const char * const *table);


static ngx_svc_pg_said_t  ngx_svc_pg_said[NGX_SVC_PG_SAID];


/*
 * Classes and codes of SQLSTATE.  A server that is read-only may be a former
 * primary; tables, and statements that were prepared, may be gone for as long
 * as a backup is restored, or have other columns after a migration.
 */

#define NGX_SVC_PG_STALE                                                      \
    "25006",    /* read-only transaction */                                   \
    "26000",    /* no such prepared statement */                              \
    "0A000",    /* cached plan must not change result type */                 \
    "3F000",    /* no such schema */                                          \
    "42P01"     /* no such table */

static const char * const  ngx_svc_pg_stale_states[] = {
    NGX_SVC_PG_STALE, NULL
};

static const char * const  ngx_svc_pg_transient_states[] = {
    NGX_SVC_PG_STALE,
    "40",       /* deadlock, serialization failure */
    "53",       /* no resources */
    "55P03",    /* lock_timeout */
    "57014",    /* statement_timeout */
    "57P",      /* shutting down, starting up */
    "58",       /* input and output */
    NULL
};


ngx_uint_t
ngx_svc_pg_stale(const char *state)
{
    return ngx_svc_pg_state_in(state, ngx_svc_pg_stale_states);
}


ngx_uint_t
ngx_svc_pg_transient(const char *state)
{
    return ngx_svc_pg_state_in(state, ngx_svc_pg_transient_states);
}


static ngx_uint_t
ngx_svc_pg_state_in(const char *state, const char * const *table)
{
    if (state == NULL) {
        return 0;
    }

    for ( /* void */ ; *table; table++) {
        if (ngx_strncmp(state, *table, ngx_strlen(*table)) == 0) {
            return 1;
        }
    }

    return 0;
}


ngx_str_t
ngx_svc_pg_message(const char *message)
{
    u_char       *p, *last;
    ngx_str_t     s;
    const char   *m;

    static u_char  text[NGX_SVC_PG_MESSAGE];

    p = text;
    last = text + NGX_SVC_PG_MESSAGE;

    for (m = message; *m && p < last; m++) {

        if ((u_char) *m > ' ') {
            *p++ = *m;

        } else if (p > text && p[-1] != ' ') {
            *p++ = ' ';
        }
    }

    while (p > text && p[-1] == ' ') {
        p--;
    }

    s.data = text;
    s.len = p - text;

    return s;
}


void
ngx_svc_pg_say(ngx_uint_t level, const char *what, ngx_str_t *text)
{
    time_t              now;
    uint32_t            hash;
    ngx_uint_t          i;
    ngx_svc_pg_said_t  *said, *oldest;

    now = ngx_time();
    hash = ngx_crc32_short(text->data, text->len);
    oldest = &ngx_svc_pg_said[0];
    said = NULL;

    for (i = 0; i < NGX_SVC_PG_SAID; i++) {

        if (ngx_svc_pg_said[i].time && ngx_svc_pg_said[i].hash == hash) {
            said = &ngx_svc_pg_said[i];
            break;
        }

        if (ngx_svc_pg_said[i].time < oldest->time) {
            oldest = &ngx_svc_pg_said[i];
        }
    }

    if (said && now - said->time < NGX_SVC_PG_SAID_SECONDS) {
        level = NGX_LOG_INFO;

    } else {
        said = said ? said : oldest;
        said->hash = hash;
        said->time = now;
    }

    ngx_log_error(level, ngx_cycle->log, 0, "PostgreSQL: %s: %V", what, text);
}


void
ngx_svc_pg_said_reset(void)
{
    ngx_memzero(ngx_svc_pg_said, sizeof(ngx_svc_pg_said));
}
