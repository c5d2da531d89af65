/*
 * Takes what was read of a grant, and of the client.
 */

#include "ngx_svc_oauth_granted_judge.h"
#include "ngx_svc_oauth_granted.row.h"


static ngx_int_t ngx_svc_oauth_granted_take_wider(ngx_svc_oauth_t *o,
    PGresult *res);
static ngx_int_t ngx_svc_oauth_granted_take_both(ngx_svc_oauth_t *o,
    PGresult *res);
static ngx_int_t ngx_svc_oauth_granted_take_client(ngx_svc_oauth_t *o,
    const ngx_svc_row_grant_client_t *columns,
    const ngx_svc_row_granted_client_t *more);
static ngx_int_t ngx_svc_oauth_granted_take_presented(ngx_svc_oauth_t *o,
    const ngx_svc_row_granted_presented_t *row);
static ngx_int_t ngx_svc_oauth_granted_take_texts(ngx_svc_oauth_t *o,
    const ngx_svc_row_granted_presented_t *row);
static ngx_int_t ngx_svc_oauth_granted_take_arrays(ngx_svc_oauth_t *o,
    const ngx_svc_row_granted_presented_t *row);
static ngx_uint_t ngx_svc_oauth_granted_cut(const ngx_str_t *cut_at,
    const ngx_str_t *created_at);


ngx_int_t
ngx_svc_oauth_granted_take(ngx_svc_oauth_t *o, PGresult *res)
{
    return o->wider ? ngx_svc_oauth_granted_take_wider(o, res)
                    : ngx_svc_oauth_granted_take_both(o, res);
}


static ngx_int_t
ngx_svc_oauth_granted_take_wider(ngx_svc_oauth_t *o, PGresult *res)
{
    ngx_svc_oauth_granted_t      *granted;
    ngx_svc_row_granted_wider_t   row;

    granted = o->data;

    ngx_svc_row_granted_wider(&row, res, 0, 0);

    if (ngx_svc_oauth_granted_take_client(o, &row.grant_client,
                                          &row.granted_client)
        != NGX_OK
        || ngx_svc_oauth_granted_take_presented(o, &row.granted_presented)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    granted->assigned = row.assigned;
    granted->client.ignores = row.ignores;

    return ngx_svc_oauth_copy(o->sr, &granted->registered, &row.registered);
}


/*
 * Takes a client, and what it presents, from two statements.  These do not look
 * at groups, nor at the user, and a cut-off is a verdict like others: before it
 * is answered, all is read once more.
 */

static ngx_int_t
ngx_svc_oauth_granted_take_both(ngx_svc_oauth_t *o, PGresult *res)
{
    ngx_svc_oauth_granted_t             *granted;
    ngx_svc_row_granted_read_t           read;
    ngx_svc_row_oauth_granted_client_t   client;

    static const ngx_str_t  everyone = ngx_string("everyone");

    granted = o->data;

    ngx_svc_row_oauth_granted_client(&client, res, 0);
    ngx_svc_row_granted_read(&read, ngx_svc_result(o->sr, o->first), 0, 0);

    if (ngx_svc_oauth_granted_take_client(o, &client.grant_client,
                                          &client.granted_client)
        != NGX_OK
        || ngx_svc_oauth_granted_take_presented(o, &read.granted_presented)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_str_null(&granted->registered);

    granted->assigned = ngx_svc_same(&client.assignment, &everyone);
    granted->unasked &= client.require_consent;

    if (granted->refusal.data == NULL
        && ngx_svc_oauth_granted_cut(&client.cut_at, &read.created_at))
    {
        granted->refusal.data = (u_char *) granted->type->unknown;
        granted->refusal.len = ngx_strlen(granted->type->unknown);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_granted_take_client(ngx_svc_oauth_t *o,
    const ngx_svc_row_grant_client_t *columns,
    const ngx_svc_row_granted_client_t *more)
{
    ngx_uint_t                i;
    ngx_svc_oauth_granted_t  *granted;

    static const ngx_str_t  always = ngx_string("always");

    granted = o->data;

    const struct {
        const ngx_str_t  *text;
        ngx_str_t        *copy;
    } texts[] = {
        { &columns->tenant_slug, &granted->token.slug },
        { &columns->access_token_format, &granted->token.format },
        { &columns->signing_kid, &granted->kid },
        { &columns->now, &granted->ms },
        { &more->name, &granted->name },
        { &more->xmin, &granted->client_xmin },
        { &more->ctid, &granted->client_ctid },
        { &more->id_token_ttl, &granted->id_token_ttl },
        { &more->refresh_idle_days, &granted->idle_days }
    };

    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (ngx_svc_oauth_copy(o->sr, texts[i].copy, texts[i].text) != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    granted->always = ngx_svc_same(&more->refresh_tokens, &always);
    granted->stays = (more->security_profile.data != NULL);

    if (ngx_svc_pg_array_read(o->sr->request->pool, &more->id_token_claims,
                              &granted->id_token_claims)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_oauth_client_row_read(o, columns, &granted->client);
}


static ngx_int_t
ngx_svc_oauth_granted_take_presented(ngx_svc_oauth_t *o,
    const ngx_svc_row_granted_presented_t *row)
{
    ngx_str_t                 text;
    ngx_svc_oauth_granted_t  *granted;

    granted = o->data;

    granted->used = (row->again != -1);
    granted->again = ngx_max(row->again, 0);
    granted->taken = row->taken;
    granted->unasked = row->unasked;

    /* with its final 0 */

    text = row->refusal;
    text.len += (text.data != NULL);

    if (ngx_svc_oauth_copy(o->sr, &granted->refusal, &text) != NGX_OK
        || ngx_svc_oauth_granted_take_texts(o, row) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_oauth_granted_take_arrays(o, row);
}


static ngx_int_t
ngx_svc_oauth_granted_take_texts(ngx_svc_oauth_t *o,
    const ngx_svc_row_granted_presented_t *row)
{
    ngx_uint_t                i;
    ngx_svc_oauth_granted_t  *granted;

    granted = o->data;

    const struct {
        const ngx_str_t  *text;
        ngx_str_t        *copy;
    } texts[] = {
        { &row->nonce, &granted->nonce },
        { &row->id, &granted->id },
        { &row->user_id, &granted->user_id },
        { &row->auth_time, &granted->token.auth_time },
        { &row->methods, &granted->methods },
        { &row->expires_at, &granted->expires_at },
        { &row->session_id, &granted->session_id },
        { &row->session_at, &granted->session_at },
        { &row->xmin, &granted->xmin },
        { &row->ctid, &granted->ctid },
        { &row->presented_ctid, &granted->presented_ctid }
    };

    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (ngx_svc_oauth_copy(o->sr, texts[i].copy, texts[i].text) != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_granted_take_arrays(ngx_svc_oauth_t *o,
    const ngx_svc_row_granted_presented_t *row)
{
    ngx_uint_t                i;
    ngx_svc_oauth_granted_t  *granted;

    granted = o->data;

    const struct {
        const ngx_str_t     *text;
        ngx_svc_pg_array_t  *array;
    } arrays[] = {
        { &row->scopes, &granted->scopes },
        { &row->claims, &granted->named },
        { &row->resources, &granted->resources },
        { &row->resource_keys, &granted->resource_keys },
        { &o->scopes, &granted->asked }
    };

    for (i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
        if (ngx_svc_pg_array_read(o->sr->request->pool, arrays[i].text,
                                  arrays[i].array)
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


/*
 * Returns 1 if the grant is older than the cut-off, or its time is not known.
 * Times are seconds with up to six digits after the point.
 */

static ngx_uint_t
ngx_svc_oauth_granted_cut(const ngx_str_t *cut_at,
    const ngx_str_t *created_at)
{
    ngx_int_t  created, cut;

    if (cut_at->data == NULL) {
        return 0;
    }

    cut = ngx_atofp(cut_at->data, cut_at->len, 6);
    created = ngx_atofp(created_at->data, created_at->len, 6);

    return cut == NGX_ERROR || created < cut;
}
