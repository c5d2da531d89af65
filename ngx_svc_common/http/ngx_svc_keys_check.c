/*
 * The check that svc_key_file has all keys that rows are sealed under.  Without
 * one of them users cannot sign in, and an operator must know it before they
 * try.
 */

#include "ngx_svc_keys_check.h"
#include "ngx_svc_metrics.h"
#include "ngx_svc_pg_task.h"


#define NGX_SVC_KEYS_CHECK_FIRST  1000      /* ms, until there is an answer */
#define NGX_SVC_KEYS_CHECK_NEXT   60000
#define NGX_SVC_KEYS_CHECK_TEXT   512       /* bytes of ids in the log */


static void ngx_svc_keys_check_done(ngx_svc_pg_op_t *op);
static ngx_uint_t ngx_svc_keys_check_missing(const ngx_str_t *ids,
    ngx_str_t *missing);
static void ngx_svc_keys_check_tell(const ngx_str_t *missing);


#include "ngx_svc_keys_check.sql.h"


static ngx_svc_pg_task_t      ngx_svc_keys_check = {
    .statement = &ngx_svc_sql_keys_needed,
    .done = ngx_svc_keys_check_done,
    .pool = NGX_SVC_PG_SLOW,
    .full = NGX_MAX_INT_T_VALUE,
    .failed = "it is not known which keys secrets are sealed under"
};

static const ngx_svc_keys_t  *ngx_svc_keys_check_keys;

static ngx_svc_keys_state_e   ngx_svc_keys_check_last;

static uint32_t               ngx_svc_keys_check_told;


void
ngx_svc_keys_check_init(ngx_cycle_t *cycle, const ngx_svc_keys_t *keys)
{
    ngx_svc_keys_check_last = NGX_SVC_KEYS_OFF;

    if (keys->n == 0) {
        return;
    }

    ngx_svc_keys_check_last = NGX_SVC_KEYS_UNKNOWN;
    ngx_svc_keys_check_keys = keys;
    ngx_svc_keys_check_told = 0;

    ngx_svc_keys_check.period = NGX_SVC_KEYS_CHECK_FIRST;

    ngx_svc_pg_task_init(&ngx_svc_keys_check, cycle);
}


void
ngx_svc_keys_check_exit(void)
{
    ngx_svc_pg_task_exit(&ngx_svc_keys_check);
}


ngx_svc_keys_state_e
ngx_svc_keys_check_state(void)
{
    return ngx_svc_keys_check_last;
}


static void
ngx_svc_keys_check_done(ngx_svc_pg_op_t *op)
{
    u_char                     text[NGX_SVC_KEYS_CHECK_TEXT];
    ngx_str_t                  missing;
    ngx_uint_t                 n;
    ngx_svc_row_keys_needed_t  row;

    ngx_svc_row_keys_needed(&row,
                      ngx_svc_pg_op_result(op, &ngx_svc_sql_keys_needed), 0);
    missing.data = text;

    n = ngx_svc_keys_check_missing(&row.ids, &missing);

    ngx_svc_keys_check_last = n ? NGX_SVC_KEYS_MISSING : NGX_SVC_KEYS_THERE;
    ngx_svc_gauge_set(NGX_SVC_G_KEYS_MISSING, n);

    if (ngx_worker == 0) {
        ngx_svc_keys_check_tell(&missing);
    }

    ngx_svc_keys_check.period = NGX_SVC_KEYS_CHECK_NEXT;
    ngx_add_timer(&ngx_svc_keys_check.timer, NGX_SVC_KEYS_CHECK_NEXT);
}


/*
 * Returns how many keys are missing.  *missing has their ids in quotes, as far
 * as there is room.
 */

static ngx_uint_t
ngx_svc_keys_check_missing(const ngx_str_t *ids, ngx_str_t *missing)
{
    u_char      *p, *end, *comma, *out;
    ngx_str_t    id;
    ngx_uint_t   n;

    n = 0;
    out = missing->data;
    end = ids->data + ids->len;

    for (p = ids->data; p && p < end; p = comma + 1) {

        comma = ngx_strlchr(p, end, ',');
        if (comma == NULL) {
            comma = end;
        }

        id.data = p;
        id.len = comma - p;

        if (ngx_svc_key_known(ngx_svc_keys_check_keys, &id)) {
            continue;
        }

        out = ngx_slprintf(out, missing->data + NGX_SVC_KEYS_CHECK_TEXT,
                           n++ ? ", \"%V\"" : "\"%V\"", &id);
    }

    missing->len = out - missing->data;

    return n;
}


/* Logs which keys are missing, when they are not those of the last time. */

static void
ngx_svc_keys_check_tell(const ngx_str_t *missing)
{
    uint32_t  hash;

    hash = missing->len ? ngx_crc32_short(missing->data, missing->len) : 0;

    if (hash == ngx_svc_keys_check_told) {
        return;
    }

    ngx_svc_keys_check_told = hash;

    if (hash == 0) {
        ngx_log_error(NGX_LOG_NOTICE, ngx_cycle->log, 0,
                      "svc: \"svc_key_file\" has all keys again that rows "
                      "need");
        return;
    }

    ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                  "svc: rows are under keys that \"svc_key_file\" lacks: %V; "
                  "put them back behind the first key, reload, and run "
                  "\"svcctl secrets reseal\"", missing);
}
