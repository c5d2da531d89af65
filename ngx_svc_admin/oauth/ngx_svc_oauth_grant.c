/*
 * What the grant types of POST /oauth/token share: their round trips, and
 * their answers.
 *
 * One round trip finds the client, and reads what the grant type decides by.
 * The first JWT of a tenant takes another one, which makes the key.
 */

#include "ngx_svc_oauth_grant.h"
#include "ngx_svc_oauth_key.row.h"
#include "ngx_svc_oauth_key.h"
#include "ngx_svc_oauth_make.h"
#include "ngx_svc_oauth_once.h"
#include "ngx_svc_oauth_refusal.h"
#include "ngx_svc_oauth_sign.h"


/* After so many readings of what has changed we are too busy. */

#define NGX_SVC_OAUTH_GRANT_ROUNDS  8


static ngx_int_t ngx_svc_oauth_grant_retry(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_grant_key_calls(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_grant_key_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_grant_made(ngx_svc_oauth_t *o);
static ngx_int_t ngx_svc_oauth_grant_first(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_oauth_grant_answer(ngx_svc_oauth_t *o, ngx_int_t rc);


#include "ngx_svc_oauth_grant.sql.h"


ngx_int_t
ngx_svc_oauth_grant_calls(ngx_svc_oauth_t *o,
    const ngx_svc_pg_statement_t *before)
{
    ngx_int_t                     rc;
    const ngx_svc_pg_statement_t  *first, *statement;

    first = o->grant->jwt && o->token.kid.data ? o->grant->jwt
                                               : o->grant->first;
    statement = o->wider ? o->grant->wider : o->grant->statement;

    if (o->wider && o->grant->wider_alone) {
        first = NULL;
    }

    rc = ngx_svc_oauth_client_call(o, o->grant->login);

    if (rc == NGX_OK && before) {
        rc = ngx_svc_route_call(o->sr, before, NULL);
    }

    if (rc == NGX_OK && o->grant->rows) {
        rc = o->grant->rows(o);
    }

    if (rc == NGX_OK && first) {
        o->first = first;
        rc = ngx_svc_route_call(o->sr, first, NULL);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_oauth_once_call(o);
    }

    o->statement = statement;

    return rc == NGX_OK ? ngx_svc_route_call(o->sr, statement, NULL) : rc;
}


ngx_int_t
ngx_svc_oauth_grant_reply(ngx_svc_request_t *sr)
{
    PGresult         *login, *res;
    ngx_int_t         rc;
    ngx_svc_oauth_t  *o;

    o = sr->data;
    login = ngx_svc_oauth_client_result(o);

    rc = ngx_svc_oauth_client_known(o, login);

    if (rc != NGX_OK) {
        return rc == NGX_DECLINED
               ? ngx_svc_oauth_refuse_client(o, login)
               : NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    res = ngx_svc_result(sr, o->statement);

    if (o->kid.data) {
        ngx_svc_oauth_key_changed(&o->tenant);
    }

    if (PQntuples(res) == 0) {

        /* the client has been deleted between the two statements */

        return ngx_svc_oauth_refuse_client(o, login);
    }

    return o->grant->decide(o, res);
}


ngx_int_t
ngx_svc_oauth_grant_refused(ngx_svc_oauth_t *o, const ngx_str_t *verdict,
    const ngx_str_t *allowed)
{
    ngx_svc_metric_add(o->grant->metric + 1, 1);

    return ngx_svc_oauth_refuse(o, verdict, allowed);
}


ngx_int_t
ngx_svc_oauth_grant_read(ngx_svc_oauth_t *o)
{
    return ngx_svc_request_again(o->sr, NGX_SVC_PG_READ,
                                 ngx_svc_oauth_grant_retry,
                                 ngx_svc_oauth_grant_reply);
}


ngx_int_t
ngx_svc_oauth_grant_again(ngx_svc_oauth_t *o)
{
    if (++o->rounds == NGX_SVC_OAUTH_GRANT_ROUNDS) {
        return ngx_svc_send_busy(o->sr);
    }

    ngx_str_null(&o->kid);

    return ngx_svc_oauth_grant_read(o);
}


static ngx_int_t
ngx_svc_oauth_grant_retry(ngx_svc_request_t *sr)
{
    return ngx_svc_oauth_grant_calls(sr->data, NULL);
}


/* This is done once: after it there is a key, whichever request has made it. */

ngx_int_t
ngx_svc_oauth_grant_key(ngx_svc_oauth_t *o)
{
    if (o->kid.data) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_request_again(o->sr, NGX_SVC_PG_READ,
                                 ngx_svc_oauth_grant_key_calls,
                                 ngx_svc_oauth_grant_key_reply);
}


static ngx_int_t
ngx_svc_oauth_grant_key_calls(ngx_svc_request_t *sr)
{
    return ngx_svc_oauth_client_call_then(sr->data, &ngx_svc_sql_oauth_alg);
}


static ngx_int_t
ngx_svc_oauth_grant_key_reply(ngx_svc_request_t *sr)
{
    PGresult                 *res;
    ngx_svc_oauth_t          *o;
    ngx_svc_row_oauth_alg_t   row;

    o = sr->data;
    res = ngx_svc_result(sr, &ngx_svc_sql_oauth_alg);

    if (PQntuples(res) == 0) {

        /* the client has been deleted meanwhile, or its secret is retired */

        return ngx_svc_oauth_refuse_client(o, ngx_svc_oauth_client_result(o));
    }

    ngx_svc_row_oauth_alg(&row, res, 0);

    if (*row.signing_alg.data == 'R') {
        return ngx_svc_oauth_make(o, ngx_svc_oauth_grant_made);
    }

    o->key_first = &ngx_svc_sql_oauth_key_first;

    return ngx_svc_oauth_key_new(o) == NGX_OK
           ? ngx_svc_oauth_grant_made(o) : NGX_HTTP_INTERNAL_SERVER_ERROR;
}


static ngx_int_t
ngx_svc_oauth_grant_made(ngx_svc_oauth_t *o)
{
    return ngx_svc_request_again(o->sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_oauth_grant_first,
                                 ngx_svc_oauth_grant_reply);
}


static ngx_int_t
ngx_svc_oauth_grant_first(ngx_svc_request_t *sr)
{
    ngx_svc_oauth_t  *o;

    o = sr->data;

    return ngx_svc_oauth_grant_calls(o, o->key_first);
}


ngx_int_t
ngx_svc_oauth_grant_send(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_issued_t *token)
{
    ngx_int_t  rc;

    o->jwts = ngx_pcalloc(o->sr->request->pool, sizeof(ngx_svc_oauth_jwts_t));
    if (o->jwts == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    o->jwts->kid = token->kid;
    o->jwts->sealed = token->sealed;
    o->issued = token;
    o->signed_by = ngx_svc_oauth_grant_answer;

    if (ngx_svc_oauth_issue_token(o, token) != NGX_OK
        || (o->grant->id_token && o->grant->id_token(o) != NGX_OK))
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    rc = ngx_svc_oauth_sign(o);

    if (rc == NGX_AGAIN) {
        o->sr->request->main->count++;
        return NGX_DONE;
    }

    return ngx_svc_oauth_grant_answer(o, rc);
}


/* Answers when all JWTs are signed. */

static ngx_int_t
ngx_svc_oauth_grant_answer(ngx_svc_oauth_t *o, ngx_int_t rc)
{
    ngx_svc_json_writer_t  w;

    static ngx_str_t       no_store = ngx_string("no-store");

    if (rc == NGX_BUSY) {
        return ngx_svc_send_busy(o->sr);
    }

    if (rc != NGX_OK
        || ngx_svc_json_writer_init(&w, o->sr->request->pool, 1024) != NGX_OK
        || ngx_svc_add_header(o->sr->request, "Cache-Control", &no_store)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');

    ngx_svc_oauth_issue_write(o, o->issued, &w);

    if (o->grant->more && o->grant->more(o, &w) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (o->id_token.data) {
        ngx_svc_json_plain(&w, "id_token", o->id_token.data, o->id_token.len);
    }

    ngx_svc_json_close(&w, '}');

    ngx_svc_metric_add(o->grant->metric, 1);

    return ngx_svc_send(o->sr, NGX_HTTP_OK, &w, NULL);
}


/* There is no login: whatever ends one has changed the client's row, too. */

ngx_int_t
ngx_svc_oauth_grant_give(ngx_svc_oauth_t *o,
    const ngx_svc_pg_statement_t *statement)
{
    ngx_int_t  rc;

    /* the op writes no event to the audit log */

    o->sr->op->committed = NULL;

    rc = ngx_svc_oauth_client_tenant(o);

    if (rc == NGX_OK && o->kid.data) {
        rc = ngx_svc_route_call(o->sr, &ngx_svc_sql_oauth_key_sealed, NULL);
    }

    return rc == NGX_OK ? ngx_svc_route_call(o->sr, statement, NULL) : rc;
}


/* The revocation of a key changes the client's row: nothing is given then. */

ngx_int_t
ngx_svc_oauth_grant_given(ngx_svc_oauth_t *o, ngx_svc_oauth_issued_t *token)
{
    PGresult                        *key;
    ngx_svc_row_oauth_key_sealed_t   row;

    if (o->kid.data) {
        key = ngx_svc_result(o->sr, &ngx_svc_sql_oauth_key_sealed);

        if (PQntuples(key) == 0) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }

        ngx_svc_row_oauth_key_sealed(&row, key, 0);
        token->sealed = row.sealed;
    }

    return ngx_svc_oauth_grant_send(o, token);
}
