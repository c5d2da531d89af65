/*
 * What a poll of the audit log reads, and the events that it writes.
 */

#include "ngx_svc_admin_audit_follow.h"
#include "ngx_svc_admin_audit_events.row.h"


/* Events that a poll looks at, and that it sends: the statement's limits. */
#define NGX_SVC_ADMIN_FOLLOW_SCAN   1000
#define NGX_SVC_ADMIN_FOLLOW_BATCH  200

#define NGX_SVC_ADMIN_FOLLOW_EVENT  512     /* bytes, first guess */


static void ngx_svc_admin_follow_event(ngx_svc_json_writer_t *w,
    const ngx_svc_row_t *columns, int row);
static void ngx_svc_admin_follow_move(ngx_svc_admin_follow_t *f,
    const ngx_svc_row_admin_audit_follow_t *row);


#include "ngx_svc_admin_audit_events.sql.h"


ngx_int_t
ngx_svc_admin_follow_events(ngx_svc_admin_follow_t *f, PGresult *res,
    ngx_svc_json_writer_t *w, ngx_uint_t *more, ngx_uint_t *final)
{
    int                               i, n;
    ngx_uint_t                        scanned;
    ngx_svc_row_t                     columns;
    ngx_svc_row_admin_audit_follow_t  row;

    n = PQntuples(res);

    if (ngx_svc_json_writer_init(w, f->stream.pool,
                                 n * NGX_SVC_ADMIN_FOLLOW_EVENT)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_svc_row_init(&columns, res);

    for (i = 0; i < n; i++) {

        ngx_svc_row_admin_audit_follow(&row, res, i);

        if (!row.final) {
            break;
        }

        if (row.match) {
            ngx_svc_admin_follow_event(w, &columns, i);
        }
    }

    scanned = 0;

    if (i) {
        ngx_svc_row_admin_audit_follow(&row, res, i - 1);

        scanned = row.n;
        ngx_svc_admin_follow_move(f, &row);
    }

    *final = (i == n);
    *more = n == NGX_SVC_ADMIN_FOLLOW_BATCH
            || scanned == NGX_SVC_ADMIN_FOLLOW_SCAN;

    return w->failed ? NGX_ERROR : NGX_OK;
}


static void
ngx_svc_admin_follow_event(ngx_svc_json_writer_t *w,
    const ngx_svc_row_t *columns, int row)
{
    ngx_str_t  id;

    id = ngx_svc_pg_value(columns->res, row, columns->first);

    ngx_svc_admin_follow_put(w, "id: ");
    ngx_svc_json_raw(w, NULL, id.data, id.len);
    ngx_svc_admin_follow_put(w, "\nevent: audit\ndata: ");
    ngx_svc_row_object(w, columns, row);
    ngx_svc_admin_follow_put(w, "\n\n");
}


static void
ngx_svc_admin_follow_move(ngx_svc_admin_follow_t *f,
    const ngx_svc_row_admin_audit_follow_t *row)
{
    ngx_svc_row_copy(&f->cursor.xid, f->cursor.xid_text,
                     NGX_SVC_ADMIN_FOLLOW_KEY, &row->xid);
    ngx_svc_row_copy(&f->cursor.id, f->cursor.id_text,
                     NGX_SVC_ADMIN_FOLLOW_KEY, &row->id);
    ngx_svc_row_copy(&f->since, f->since_text, NGX_SVC_ADMIN_FOLLOW_TIME,
                     &row->created_at);

    f->waits = ngx_current_msec;
}


void
ngx_svc_admin_follow_put(ngx_svc_json_writer_t *w, const char *text)
{
    w->comma = 0;
    ngx_svc_json_raw(w, NULL, (u_char *) text, ngx_strlen(text));
    w->comma = 0;
}
