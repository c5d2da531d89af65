/*
 * The setup of a new connection, before it takes ops: makes settings, and
 * checks the schema and the role.
 */

#include "ngx_svc_metrics.h"
#include "ngx_svc_pg_setup.h"
#include "ngx_svc_pg_setup.row.h"
#include "ngx_svc_pg_state.h"


#define NGX_SVC_PG_NSETTINGS  2         /* statements up to the check, without
                                           the one that ends a backend */


static ngx_int_t ngx_svc_pg_setup_result(ngx_svc_pg_conn_t *conn,
    PGresult *res, ngx_svc_pg_setup_t *setup);
static ngx_int_t ngx_svc_pg_setup_error(ngx_svc_pg_conn_t *conn,
    PGresult *res, ngx_svc_pg_setup_t *setup);
static ngx_int_t ngx_svc_pg_setup_check(ngx_svc_pg_conn_t *conn,
    PGresult *res, ngx_svc_pg_setup_t *setup);
static ngx_int_t ngx_svc_pg_setup_schema(ngx_svc_pg_conn_t *conn,
    const ngx_svc_row_pg_check_t *row, ngx_svc_pg_setup_t *setup);
static ngx_int_t ngx_svc_pg_setup_limits(ngx_svc_pg_conn_t *conn);
static ngx_int_t ngx_svc_pg_setup_end(ngx_svc_pg_conn_t *conn);
static ngx_int_t ngx_svc_pg_setup_query(ngx_svc_pg_conn_t *conn,
    const ngx_svc_pg_statement_t *statement);
static void ngx_svc_pg_setup_backend(ngx_svc_pg_conn_t *conn,
    const ngx_svc_row_pg_check_t *row);
static void ngx_svc_pg_setup_timeline(ngx_svc_pg_conn_t *conn, PGresult *res);
static ngx_int_t ngx_svc_pg_setup_failed(ngx_svc_pg_setup_t *setup,
    ngx_svc_pg_trouble_e trouble, const char *message);


#include "ngx_svc_pg_setup.sql.h"


ngx_int_t
ngx_svc_pg_setup_send(ngx_svc_pg_conn_t *conn)
{
    u_char              lock_timeout[NGX_INT64_LEN + 1];
    const char         *value;
    ngx_svc_pg_conf_t  *conf;

    conf = conn->pool->conf;

    /* a backend that waits for a lock does not notice that we disconnect */

    *ngx_sprintf(lock_timeout, "%M",
                 ngx_min(conf->queue_timeout + NGX_SVC_PG_GRACE,
                         conf->connect_timeout))
        = '\0';
    value = (char *) lock_timeout;

    if (PQsendQueryParams(conn->pg, ngx_svc_sql_pg_settings.text, 1, NULL,
                          &value, NULL, NULL, 0)
        != 1
        || ngx_svc_pg_setup_end(conn) != NGX_OK
        || ngx_svc_pg_setup_query(conn, &ngx_svc_sql_pg_check) != NGX_OK
        || (conf->fence
            && ngx_svc_pg_setup_query(conn, &ngx_svc_sql_pg_timeline)
               != NGX_OK))
    {
        return NGX_ERROR;
    }

    return ngx_svc_pg_setup_limits(conn);
}


static ngx_int_t
ngx_svc_pg_setup_query(ngx_svc_pg_conn_t *conn,
    const ngx_svc_pg_statement_t *statement)
{
    return PQsendQueryParams(conn->pg, statement->text, 0, NULL, NULL, NULL,
                             NULL, 0)
           == 1 ? NGX_OK : NGX_ERROR;
}


static ngx_int_t
ngx_svc_pg_setup_limits(ngx_svc_pg_conn_t *conn)
{
    u_char              timeout[NGX_INT64_LEN + 1],
                        lock_timeout[NGX_INT64_LEN + 1];
    const char         *values[2];
    ngx_svc_pg_conf_t  *conf;

    conf = conn->pool->conf;

    *ngx_sprintf(timeout, "%M", conf->timeout) = '\0';

    /*
     * A statement that waits for a row holds a connection that others wait for.
     * The limit is longer than the second after which PostgreSQL looks for a
     * deadlock, so that one of two statements goes on.
     */

    *ngx_sprintf(lock_timeout, "%M", conf->queue_timeout + NGX_SVC_PG_GRACE)
        = '\0';
    values[0] = (char *) timeout;
    values[1] = (char *) lock_timeout;

    return PQsendQueryParams(conn->pg, ngx_svc_sql_pg_limits.text, 2, NULL,
                             values, NULL, NULL, 0)
           == 1 ? NGX_OK : NGX_ERROR;
}


/* Ends the backend that the connection before this one may have left behind. */

static ngx_int_t
ngx_svc_pg_setup_end(ngx_svc_pg_conn_t *conn)
{
    u_char       pid[NGX_INT_T_LEN + 1];
    const char  *values[2];

    if (conn->left.pid == 0) {
        return NGX_OK;
    }

    *ngx_sprintf(pid, "%ui", conn->left.pid) = '\0';
    values[0] = (char *) pid;
    values[1] = (char *) conn->left.start;

    return PQsendQueryParams(conn->pg, ngx_svc_sql_end_backend.text, 2, NULL,
                             values, NULL, NULL, 0)
           == 1 ? NGX_OK : NGX_ERROR;
}


ngx_int_t
ngx_svc_pg_setup_read(ngx_svc_pg_conn_t *conn, ngx_svc_pg_setup_t *setup)
{
    PGresult   *res;
    ngx_int_t   rc;

    if (PQconsumeInput(conn->pg) != 1) {
        return NGX_ERROR;
    }

    while (!PQisBusy(conn->pg) && PQstatus(conn->pg) == CONNECTION_OK) {
        res = PQgetResult(conn->pg);

        /* a NULL separates the results of two statements */

        if (res == NULL) {
            continue;
        }

        rc = ngx_svc_pg_setup_result(conn, res, setup);

        if (rc == NGX_DECLINED) {
            setup->result = res;
            return NGX_DECLINED;
        }

        PQclear(res);

        if (rc == NGX_OK) {
            return NGX_OK;
        }
    }

    return PQstatus(conn->pg) == CONNECTION_OK ? NGX_AGAIN : NGX_ERROR;
}


static ngx_int_t
ngx_svc_pg_setup_result(ngx_svc_pg_conn_t *conn, PGresult *res,
    ngx_svc_pg_setup_t *setup)
{
    ngx_uint_t  check;

    switch (PQresultStatus(res)) {

    case PGRES_PIPELINE_SYNC:
        return NGX_OK;

    case PGRES_TUPLES_OK:
    case PGRES_COMMAND_OK:
        break;

    default:
        return ngx_svc_pg_setup_error(conn, res, setup);
    }

    conn->nsetup++;

    check = NGX_SVC_PG_NSETTINGS + (conn->left.pid ? 1 : 0);

    if (conn->nsetup == check) {
        return ngx_svc_pg_setup_check(conn, res, setup);
    }

    if (conn->nsetup == check + 1 && conn->pool->conf->fence) {
        ngx_svc_pg_setup_timeline(conn, res);
    }

    return NGX_AGAIN;
}


static ngx_int_t
ngx_svc_pg_setup_error(ngx_svc_pg_conn_t *conn, PGresult *res,
    ngx_svc_pg_setup_t *setup)
{
    ngx_str_t              text;
    const char            *primary;
    ngx_svc_pg_trouble_e   trouble;

    trouble = ngx_svc_pg_trouble_state(
                               PQresultErrorField(res, PG_DIAG_SQLSTATE));

    if (trouble == NGX_SVC_PG_SCHEMA_MISSING) {
        return ngx_svc_pg_setup_failed(setup, trouble,
                                       "the database has no schema \"svc\"");
    }

    text = ngx_svc_pg_message(PQresultErrorMessage(res));

    ngx_log_error(NGX_LOG_INFO, conn->pool->log, 0,
                  "PostgreSQL setup statement %ui: %V", conn->nsetup, &text);

    primary = PQresultErrorField(res, PG_DIAG_MESSAGE_PRIMARY);

    return ngx_svc_pg_setup_failed(setup, trouble,
                               primary ? primary : PQresultErrorMessage(res));
}


static ngx_int_t
ngx_svc_pg_setup_failed(ngx_svc_pg_setup_t *setup,
    ngx_svc_pg_trouble_e trouble, const char *message)
{
    setup->trouble = trouble;
    setup->message = message;

    return NGX_DECLINED;
}


static ngx_int_t
ngx_svc_pg_setup_check(ngx_svc_pg_conn_t *conn, PGresult *res,
    ngx_svc_pg_setup_t *setup)
{
    ngx_str_t               v;
    ngx_svc_row_pg_check_t  row;

    ngx_svc_row_pg_check(&row, res, 0);

    if (ngx_svc_pg_setup_schema(conn, &row, setup) != NGX_OK) {
        return NGX_DECLINED;
    }

    if (row.unsafe.len != 1 || row.unsafe.data[0] != 'f') {
        return ngx_svc_pg_setup_failed(setup, NGX_SVC_PG_ROLE_UNSAFE,
                               "the role of \"svc_postgres\" owns tables or "
                               "bypasses row-level security, which keeps "
                               "tenants apart");
    }

    if (!row.granted) {
        return ngx_svc_pg_setup_failed(setup, NGX_SVC_PG_ROLE_DENIED,
                               "the role of \"svc_postgres\" may not read and "
                               "write the tables of schema \"svc\"");
    }

    ngx_svc_pg_setup_backend(conn, &row);

    if (conn->pool->newer) {
        v = ngx_svc_pg_trouble_text(NGX_SVC_PG_SCHEMA_NEW,
                                    "the schema is newer than these modules");
        ngx_svc_pg_log(NGX_LOG_NOTICE, "connected", &v);
    }

    return NGX_AGAIN;
}


/* Checks that these modules work with the schema. */

static ngx_int_t
ngx_svc_pg_setup_schema(ngx_svc_pg_conn_t *conn,
    const ngx_svc_row_pg_check_t *row, ngx_svc_pg_setup_t *setup)
{
    ngx_int_t  version, serves;

    version = row->version;
    serves = row->serves;

    ngx_svc_gauge_set(NGX_SVC_G_SCHEMA, ngx_max(version, 0));

    if (version < NGX_SVC_PG_SCHEMA) {
        ngx_log_error(NGX_LOG_INFO, conn->pool->log, 0,
                      "PostgreSQL: the schema is of version %i, these modules "
                      "need %d", version, NGX_SVC_PG_SCHEMA);
        return ngx_svc_pg_setup_failed(setup, NGX_SVC_PG_SCHEMA_OLD,
                               "the schema is too old for these modules");
    }

    if (serves > NGX_SVC_PG_SCHEMA) {
        ngx_log_error(NGX_LOG_INFO, conn->pool->log, 0,
                      "PostgreSQL: the schema is of version %i and serves "
                      "modules of version %i and newer, these are of %d",
                      version, serves, NGX_SVC_PG_SCHEMA);
        return ngx_svc_pg_setup_failed(setup, NGX_SVC_PG_SCHEMA_AHEAD,
                               "the schema does not serve modules that are as "
                               "old as these");
    }

    conn->pool->newer = version > NGX_SVC_PG_SCHEMA;

    return NGX_OK;
}


/* Reads which backend serves the connection. */

static void
ngx_svc_pg_setup_backend(ngx_svc_pg_conn_t *conn,
    const ngx_svc_row_pg_check_t *row)
{
    if (row->pid > 0
        && row->started.len && row->started.len < NGX_SVC_PG_START)
    {
        conn->backend.pid = row->pid;
        *ngx_cpymem(conn->backend.start, row->started.data, row->started.len)
            = '\0';
    }
}


static void
ngx_svc_pg_setup_timeline(ngx_svc_pg_conn_t *conn, PGresult *res)
{
    ngx_svc_row_pg_timeline_t  row;

    ngx_svc_row_pg_timeline(&row, res, 0);
    conn->timeline = ngx_svc_pg_fence_read(&row);
    ngx_svc_pg_fence_note(&conn->timeline);
}
