/*
 * Takes what was read of a grant, and of the client.
 */

#include "ngx_svc_oauth_granted_judge.h"
#include "ngx_svc_oauth_granted_sql.h"


/* What is presented, and its grant: one row, or none. */

typedef struct {
    PGresult    *res;
    ngx_uint_t   first;         /* its first column */
} ngx_svc_oauth_granted_row_t;


static ngx_int_t ngx_svc_oauth_granted_take_client(ngx_svc_oauth_t *o,
    PGresult *res);
static ngx_uint_t ngx_svc_oauth_granted_word(PGresult *res, ngx_uint_t column,
    const char *word);
static ngx_int_t ngx_svc_oauth_granted_take_texts(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_granted_row_t *row);
static ngx_int_t ngx_svc_oauth_granted_take_arrays(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_granted_row_t *row);
static ngx_int_t ngx_svc_oauth_granted_take_presented(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_granted_row_t *row);
static void ngx_svc_oauth_granted_take_state(ngx_svc_oauth_t *o,
    PGresult *res, const ngx_svc_oauth_granted_row_t *row);
static ngx_uint_t ngx_svc_oauth_granted_cut(PGresult *res,
    const ngx_svc_oauth_granted_row_t *row);
static ngx_str_t ngx_svc_oauth_granted_value(
    const ngx_svc_oauth_granted_row_t *row,
    ngx_svc_oauth_granted_column_e column);
static ngx_uint_t ngx_svc_oauth_granted_is(
    const ngx_svc_oauth_granted_row_t *row,
    ngx_svc_oauth_granted_column_e column);


ngx_int_t
ngx_svc_oauth_granted_take(ngx_svc_oauth_t *o, PGresult *res)
{
    ngx_svc_oauth_granted_row_t  row;

    row.res = o->wider ? res : ngx_svc_result(o->sr, o->first);
    row.first = o->wider ? NGX_SVC_OAUTH_GRANTED_CLIENT_COLUMNS : 0;

    if (ngx_svc_oauth_granted_take_client(o, res) != NGX_OK
        || ngx_svc_oauth_granted_take_texts(o, &row) != NGX_OK
        || ngx_svc_oauth_granted_take_arrays(o, &row) != NGX_OK
        || ngx_svc_oauth_granted_take_presented(o, &row) != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_svc_oauth_granted_take_state(o, res, &row);

    return NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_granted_take_client(ngx_svc_oauth_t *o, PGresult *res)
{
    ngx_str_t                 text;
    ngx_uint_t                i;
    ngx_svc_oauth_granted_t  *granted;

    granted = o->data;

    const struct {
        ngx_uint_t   column;
        ngx_str_t   *value;
    } columns[] = {
        { NGX_SVC_OAUTH_CLIENT_SLUG, &granted->token.slug },
        { NGX_SVC_OAUTH_CLIENT_FORMAT, &granted->token.format },
        { NGX_SVC_OAUTH_CLIENT_KID, &granted->kid },
        { NGX_SVC_OAUTH_CLIENT_NOW, &granted->ms },
        { NGX_SVC_OAUTH_GRANTED_NAME, &granted->name },
        { NGX_SVC_OAUTH_GRANTED_CLIENT_XMIN, &granted->client_xmin },
        { NGX_SVC_OAUTH_GRANTED_CLIENT_CTID, &granted->client_ctid },
        { NGX_SVC_OAUTH_GRANTED_ID_TOKEN_TTL, &granted->id_token_ttl },
        { NGX_SVC_OAUTH_GRANTED_IDLE_DAYS, &granted->idle_days }
    };

    for (i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        text = ngx_svc_pg_value(res, 0, columns[i].column);

        if (ngx_svc_oauth_copy(o->sr, columns[i].value, &text) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    granted->always = ngx_svc_oauth_granted_word(res,
                          NGX_SVC_OAUTH_GRANTED_REFRESH_TOKENS, "always");
    granted->stays = !PQgetisnull(res, 0, NGX_SVC_OAUTH_GRANTED_PROFILE);

    text = ngx_svc_pg_value(res, 0, NGX_SVC_OAUTH_GRANTED_ID_TOKEN_CLAIMS);

    if (ngx_svc_pg_array_read(o->sr->request->pool, &text,
                              &granted->id_token_claims)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_oauth_client_row_read(o, res, &granted->client);
}


static ngx_uint_t
ngx_svc_oauth_granted_word(PGresult *res, ngx_uint_t column,
    const char *word)
{
    return ngx_strcmp(PQgetvalue(res, 0, column), word) == 0;
}


static ngx_int_t
ngx_svc_oauth_granted_take_texts(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_granted_row_t *row)
{
    ngx_str_t                 text;
    ngx_uint_t                i;
    ngx_svc_oauth_granted_t  *granted;

    granted = o->data;

    const struct {
        ngx_svc_oauth_granted_column_e   column;
        ngx_str_t                       *value;
    } columns[] = {
        { NGX_SVC_OAUTH_GRANTED_NONCE, &granted->nonce },
        { NGX_SVC_OAUTH_GRANTED_ID, &granted->id },
        { NGX_SVC_OAUTH_GRANTED_USER, &granted->user_id },
        { NGX_SVC_OAUTH_GRANTED_AUTH_TIME, &granted->token.auth_time },
        { NGX_SVC_OAUTH_GRANTED_METHODS, &granted->methods },
        { NGX_SVC_OAUTH_GRANTED_EXPIRES_AT, &granted->expires_at },
        { NGX_SVC_OAUTH_GRANTED_SESSION_ID, &granted->session_id },
        { NGX_SVC_OAUTH_GRANTED_SESSION_AT, &granted->session_at },
        { NGX_SVC_OAUTH_GRANTED_XMIN, &granted->xmin },
        { NGX_SVC_OAUTH_GRANTED_CTID, &granted->ctid },
        { NGX_SVC_OAUTH_GRANTED_PRESENTED_CTID, &granted->presented_ctid }
    };

    for (i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        text = ngx_svc_oauth_granted_value(row, columns[i].column);

        if (ngx_svc_oauth_copy(o->sr, columns[i].value, &text) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    ngx_str_null(&text);

    if (o->wider) {
        text = ngx_svc_oauth_granted_value(row,
                                           NGX_SVC_OAUTH_GRANTED_REGISTERED);
    }

    return ngx_svc_oauth_copy(o->sr, &granted->registered, &text);
}


static ngx_int_t
ngx_svc_oauth_granted_take_arrays(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_granted_row_t *row)
{
    ngx_str_t                 text;
    ngx_uint_t                i;
    ngx_pool_t               *pool;
    ngx_svc_oauth_granted_t  *granted;

    granted = o->data;
    pool = o->sr->request->pool;

    const struct {
        ngx_svc_oauth_granted_column_e   column;
        ngx_svc_pg_array_t              *array;
    } arrays[] = {
        { NGX_SVC_OAUTH_GRANTED_SCOPES, &granted->scopes },
        { NGX_SVC_OAUTH_GRANTED_CLAIMS, &granted->named },
        { NGX_SVC_OAUTH_GRANTED_RESOURCES, &granted->resources },
        { NGX_SVC_OAUTH_GRANTED_RESOURCE_KEYS, &granted->resource_keys }
    };

    for (i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
        text = ngx_svc_oauth_granted_value(row, arrays[i].column);

        if (ngx_svc_pg_array_read(pool, &text, arrays[i].array) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    return ngx_svc_pg_array_read(pool, &o->scopes, &granted->asked) == NGX_OK
           ? NGX_OK : NGX_ERROR;
}


static ngx_int_t
ngx_svc_oauth_granted_take_presented(ngx_svc_oauth_t *o,
    const ngx_svc_oauth_granted_row_t *row)
{
    ngx_str_t                 text;
    ngx_svc_oauth_granted_t  *granted;

    granted = o->data;

    text = ngx_svc_oauth_granted_value(row, NGX_SVC_OAUTH_GRANTED_AGAIN);

    granted->used = (text.data != NULL);
    granted->again = text.data ? ngx_atoi(text.data, text.len) : 0;
    granted->taken = ngx_svc_oauth_granted_is(row,
                                              NGX_SVC_OAUTH_GRANTED_TAKEN);

    text = ngx_svc_oauth_granted_value(row, NGX_SVC_OAUTH_GRANTED_PRESENTED);

    /* with its final 0 */

    text.len += (text.data != NULL);

    return ngx_svc_oauth_copy(o->sr, &granted->refusal, &text);
}


/*
 * Takes whether the user may use the client, and a cut-off.  That is a verdict
 * like others: before it is answered, all is read once more.
 */

static void
ngx_svc_oauth_granted_take_state(ngx_svc_oauth_t *o, PGresult *res,
    const ngx_svc_oauth_granted_row_t *row)
{
    ngx_svc_oauth_granted_t  *granted;

    granted = o->data;

    granted->unasked = ngx_svc_oauth_granted_is(row,
                                               NGX_SVC_OAUTH_GRANTED_UNASKED);

    if (o->wider) {
        granted->assigned = ngx_svc_oauth_granted_is(row,
                                              NGX_SVC_OAUTH_GRANTED_ASSIGNED);
        granted->client.ignores = ngx_svc_oauth_granted_is(row,
                                               NGX_SVC_OAUTH_GRANTED_IGNORES);
        return;
    }

    granted->assigned = ngx_svc_oauth_granted_word(res,
                            NGX_SVC_OAUTH_GRANTED_ASSIGNMENT, "everyone");
    granted->unasked &= ngx_svc_pg_true(res, 0,
                                        NGX_SVC_OAUTH_GRANTED_CONSENTS);

    if (granted->refusal.data == NULL && ngx_svc_oauth_granted_cut(res, row)) {
        granted->refusal.data = (u_char *) granted->type->unknown;
        granted->refusal.len = ngx_strlen(granted->type->unknown);
    }
}


/*
 * Returns 1 if the grant is older than the cut-off, or its time is not known.
 */

static ngx_uint_t
ngx_svc_oauth_granted_cut(PGresult *res,
    const ngx_svc_oauth_granted_row_t *row)
{
    ngx_int_t  created, cut;
    ngx_str_t  text;

    text = ngx_svc_pg_value(res, 0, NGX_SVC_OAUTH_GRANTED_CUT_AT);

    if (text.data == NULL) {
        return 0;
    }

    /* seconds, with up to six digits after the point */

    cut = ngx_atofp(text.data, text.len, 6);

    text = ngx_svc_oauth_granted_value(row, NGX_SVC_OAUTH_GRANTED_CREATED_AT);
    created = ngx_atofp(text.data, text.len, 6);

    return cut == NGX_ERROR || created < cut;
}


static ngx_str_t
ngx_svc_oauth_granted_value(const ngx_svc_oauth_granted_row_t *row,
    ngx_svc_oauth_granted_column_e column)
{
    static const ngx_str_t  none = ngx_null_string;

    return PQntuples(row->res)
           ? ngx_svc_pg_value(row->res, 0, row->first + column) : none;
}


static ngx_uint_t
ngx_svc_oauth_granted_is(const ngx_svc_oauth_granted_row_t *row,
    ngx_svc_oauth_granted_column_e column)
{
    ngx_str_t  text;

    text = ngx_svc_oauth_granted_value(row, column);

    return text.data && *text.data == 't';
}
