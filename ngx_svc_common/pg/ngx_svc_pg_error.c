/*
 * The meaning of PostgreSQL's errors, and the logging of them.
 */

#include "ngx_svc_pg_error.h"

#include "ngx_svc_log_limit.h"


#define NGX_SVC_PG_LOGGED            8      /* different texts remembered */
#define NGX_SVC_PG_LOGGED_INTERVAL   60000  /* ms */
#define NGX_SVC_PG_MESSAGE           1024   /* bytes */


/* A text that was logged, and may be repeated. */

typedef struct {
    uint32_t              hash;
    ngx_svc_log_limit_t   limit;
} ngx_svc_pg_logged_t;


static ngx_uint_t ngx_svc_pg_state_in(const char *state,
    const char * const *table);
static ngx_svc_log_limit_t *ngx_svc_pg_logged_limit(ngx_str_t *text);


static ngx_svc_pg_logged_t  ngx_svc_pg_logged[NGX_SVC_PG_LOGGED];


/*
 * Classes and codes of SQLSTATE.  A server that is read-only may be a former
 * primary.  Tables, and prepared statements, may be missing while a backup is
 * restored, or have other columns after a migration.
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
ngx_svc_pg_log(ngx_uint_t level, const char *what, ngx_str_t *text)
{
    level = ngx_svc_log_limit_level(ngx_svc_pg_logged_limit(text), 1,
                                    NGX_SVC_PG_LOGGED_INTERVAL, level);

    ngx_log_error(level, ngx_cycle->log, 0, "PostgreSQL: %s: %V", what, text);
}


/* Finds the text; a new text takes the place of the one logged longest ago. */

static ngx_svc_log_limit_t *
ngx_svc_pg_logged_limit(ngx_str_t *text)
{
    uint32_t              hash;
    ngx_msec_t            age, max;
    ngx_uint_t            i;
    ngx_svc_pg_logged_t  *logged, *oldest;

    hash = ngx_crc32_short(text->data, text->len);
    oldest = &ngx_svc_pg_logged[0];
    max = 0;

    for (i = 0; i < NGX_SVC_PG_LOGGED; i++) {
        logged = &ngx_svc_pg_logged[i];

        if (logged->limit.lines && logged->hash == hash) {
            return &logged->limit;
        }

        age = logged->limit.lines ? ngx_current_msec - logged->limit.start
                                  : (ngx_msec_t) -1;
        if (age > max) {
            max = age;
            oldest = logged;
        }
    }

    ngx_memzero(oldest, sizeof(ngx_svc_pg_logged_t));
    oldest->hash = hash;

    return &oldest->limit;
}


void
ngx_svc_pg_log_reset(void)
{
    ngx_memzero(ngx_svc_pg_logged, sizeof(ngx_svc_pg_logged));
}
