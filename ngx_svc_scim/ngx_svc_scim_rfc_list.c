/*
 * Lists in svc_scim_mode rfc: GET /Users and both POST .search, with pages,
 * filters and an order (RFC 7644, 3.4.2 and 3.4.3).
 *
 * The filters that clients send all the time have prepared statements.  Any
 * other filter is a statement of its own, which is planned with its values:
 * reading the users costs more than the planning.  It reads
 * NGX_SVC_SCIM_LIST_SCAN users at most.
 */

#include "ngx_svc_scim.h"
#include "ngx_svc_scim_filter_sql.h"
#include "ngx_svc_scim_list_query.h"


#define NGX_SVC_SCIM_LIST_SCAN  100000  /* users that a filter looks at */
#define NGX_SVC_SCIM_LIST_DEEP  10000   /* users before a page: slow work */

#define NGX_SVC_SCIM_LIST_TEXT  4096    /* bytes besides the filter */

#define NGX_SVC_SCIM_CANCELED   "57014" /* SQLSTATE: statement_timeout */


typedef struct {
    ngx_svc_scim_query_t           query;
    ngx_svc_scim_where_t           where;
    const ngx_svc_pg_statement_t  *statement;   /* finds the users */
} ngx_svc_scim_search_t;


static ngx_int_t ngx_svc_scim_list_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_scim_list_call(ngx_svc_request_t *sr,
    ngx_svc_scim_search_t *search);
static ngx_int_t ngx_svc_scim_list_key(ngx_svc_request_t *sr,
    ngx_svc_scim_search_t *search, const ngx_svc_pg_statement_t *statement);
static ngx_int_t ngx_svc_scim_list_page(ngx_svc_request_t *sr,
    ngx_svc_scim_search_t *search, const ngx_svc_pg_statement_t *statement);
static ngx_int_t ngx_svc_scim_list_other(ngx_svc_request_t *sr,
    ngx_svc_scim_search_t *search);
static u_char *ngx_svc_scim_list_ordered(ngx_svc_scim_search_t *search,
    u_char *p);
static u_char *ngx_svc_scim_list_filtered(ngx_svc_scim_search_t *search,
    u_char *p);
static void ngx_svc_scim_list_sort(ngx_svc_scim_search_t *search,
    ngx_str_t *sort);
static const ngx_str_t *ngx_svc_scim_list_direction(
    ngx_svc_scim_search_t *search);
static ngx_int_t ngx_svc_scim_list_refused(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_scim_list_too_many(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_scim_list_reply(ngx_svc_request_t *sr);


#include "ngx_svc_scim_rfc_list.sql.h"


/* The prepare hook chooses one of these statements, or writes another one. */

#define ngx_svc_scim_list_route(m, p, f)                                      \
    { .method = m,                                                            \
      .path = p,                                                              \
      .permission = NGX_SVC_P_SCIM,                                           \
      .statements = { &ngx_svc_sql_scim_page,                                 \
                      &ngx_svc_sql_scim_page_active,                          \
                      &ngx_svc_sql_scim_page_inactive,                        \
                      &ngx_svc_sql_scim_key_user_name,                        \
                      &ngx_svc_sql_scim_key_external_id,                      \
                      &ngx_svc_sql_scim_key_id },                             \
      .flags = f,                                                             \
      .prepare = ngx_svc_scim_list_prepare,                                   \
      .reply = ngx_svc_scim_list_reply }


const ngx_svc_route_t  ngx_svc_scim_rfc_list[] = {

    ngx_svc_scim_list_route(NGX_HTTP_GET, NGX_SVC_SCIM_USERS, 0),
    ngx_svc_scim_list_route(NGX_HTTP_POST, ngx_string("/.search"),
                            NGX_SVC_ROUTE_JSON),
    ngx_svc_scim_list_route(NGX_HTTP_POST, ngx_string("/Users/.search"),
                            NGX_SVC_ROUTE_JSON),

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_scim_list_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t               rc;
    ngx_str_t               users;
    ngx_svc_scim_search_t  *search;

    search = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_scim_search_t));
    if (search == NULL) {
        return NGX_ERROR;
    }

    rc = sr->route->method == NGX_HTTP_GET
         ? ngx_svc_scim_query_args(sr, &search->query)
         : ngx_svc_scim_query_body(sr, &search->query);

    sr->data = search;

    if (rc != NGX_OK) {
        return rc;
    }

    if (search->query.filter.data) {

        if (ngx_svc_scim_url(sr, "/Users/", "", &users) != NGX_OK) {
            return NGX_ERROR;
        }

        rc = ngx_svc_scim_where(sr->request->pool, &search->query.filter,
                                &users, &search->where, &sr->error);
        if (rc != NGX_OK) {
            return rc;
        }
    }

    return ngx_svc_scim_list_call(sr, search);
}


/* A key finds one user at most, so that the order does not matter. */

static ngx_int_t
ngx_svc_scim_list_call(ngx_svc_request_t *sr, ngx_svc_scim_search_t *search)
{
    ngx_uint_t  ordered;

    ordered = search->query.sort != NULL;

    switch (search->where.kind) {

    case NGX_SVC_SCIM_WHERE_NOBODY:
        return NGX_OK;

    case NGX_SVC_SCIM_WHERE_USER_NAME:
        return ngx_svc_scim_list_key(sr, search,
                                     &ngx_svc_sql_scim_key_user_name);

    case NGX_SVC_SCIM_WHERE_EXTERNAL_ID:
        return ngx_svc_scim_list_key(sr, search,
                                     &ngx_svc_sql_scim_key_external_id);

    case NGX_SVC_SCIM_WHERE_ID:
        return ngx_svc_scim_list_key(sr, search, &ngx_svc_sql_scim_key_id);

    case NGX_SVC_SCIM_WHERE_ALL:
        return ordered ? ngx_svc_scim_list_other(sr, search)
                       : ngx_svc_scim_list_page(sr, search,
                                                &ngx_svc_sql_scim_page);

    case NGX_SVC_SCIM_WHERE_ACTIVE:
        return ordered ? ngx_svc_scim_list_other(sr, search)
                       : ngx_svc_scim_list_page(sr, search,
                                             &ngx_svc_sql_scim_page_active);

    case NGX_SVC_SCIM_WHERE_INACTIVE:
        return ordered ? ngx_svc_scim_list_other(sr, search)
                       : ngx_svc_scim_list_page(sr, search,
                                             &ngx_svc_sql_scim_page_inactive);

    default: /* NGX_SVC_SCIM_WHERE_OTHER */
        return ngx_svc_scim_list_other(sr, search);
    }
}


static ngx_int_t
ngx_svc_scim_list_key(ngx_svc_request_t *sr, ngx_svc_scim_search_t *search,
    const ngx_svc_pg_statement_t *statement)
{
    ngx_svc_pg_call_t  *call;

    search->statement = statement;

    call = ngx_svc_pg_call(sr->op, statement);
    if (call == NULL) {
        return NGX_ERROR;
    }

    ngx_svc_pg_bind_str(call, &search->where.params[0]);

    return NGX_OK;
}


/*
 * The statement's first parameters are how many users come before the page, and
 * the page's size.
 */

static ngx_int_t
ngx_svc_scim_list_page(ngx_svc_request_t *sr, ngx_svc_scim_search_t *search,
    const ngx_svc_pg_statement_t *statement)
{
    ngx_svc_pg_call_t  *call;

    if (search->query.start > NGX_SVC_SCIM_LIST_DEEP
        || search->where.kind != NGX_SVC_SCIM_WHERE_ALL)
    {
        sr->op->kind = NGX_SVC_PG_SLOW;
        sr->slow = "It took too long to find the users of this page.";
    }

    search->statement = statement;
    call = ngx_svc_pg_call(sr->op, statement);

    if (call == NULL
        || ngx_svc_pg_bind_int(sr->op, call, search->query.start - 1) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_pg_bind_int(sr->op, call, search->query.count);
}


/*
 * Composes a statement for this request, of texts of ours alone.  What the
 * client has sent are its parameters.
 */

static ngx_int_t
ngx_svc_scim_list_other(ngx_svc_request_t *sr, ngx_svc_scim_search_t *search)
{
    u_char                      *p;
    ngx_uint_t                   i, indexed;
    ngx_svc_pg_call_t           *call;
    ngx_svc_scim_where_t        *where;
    ngx_svc_pg_statement_t      *s;
    const ngx_svc_scim_attr_t   *sort;

    where = &search->where;
    sort = search->query.sort;

    s = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_pg_statement_t));
    p = ngx_pnalloc(sr->request->pool, where->sql.len + where->first.len
                                       + NGX_SVC_SCIM_LIST_TEXT);

    if (s == NULL || p == NULL) {
        return NGX_ERROR;
    }

    s->name = "";
    s->text = (const char *) p;
    s->nparams = where->nparams + 2;

    indexed = where->kind == NGX_SVC_SCIM_WHERE_ALL
              && sort->index && sort->required;

    if (indexed) {
        ngx_svc_scim_list_ordered(search, p);

    } else {
        ngx_svc_scim_list_filtered(search, p);
    }

    if (indexed) {
        sr->op->kind = NGX_SVC_PG_SLOW;
        sr->slow = "It took too long to find the users of this page.";

    } else if (!where->cheap) {
        sr->op->kind = NGX_SVC_PG_SLOW;
        sr->refused = ngx_svc_scim_list_refused;
    }

    search->statement = s;
    call = ngx_svc_pg_call(sr->op, s);

    if (call == NULL
        || ngx_svc_pg_bind_int(sr->op, call, search->query.start - 1) != NGX_OK
        || ngx_svc_pg_bind_int(sr->op, call, search->query.count) != NGX_OK)
    {
        return NGX_ERROR;
    }

    for (i = 0; i < where->nparams; i++) {
        ngx_svc_pg_bind_str(call, &where->params[i]);
    }

    return NGX_OK;
}


/* Writes the statement that lists all users in the order of an index. */

static u_char *
ngx_svc_scim_list_ordered(ngx_svc_scim_search_t *search, u_char *p)
{
    ngx_str_t  sort;

    ngx_svc_scim_list_sort(search, &sort);

    return ngx_svc_compose_scim_sorted(p, &sort,
                                       ngx_svc_scim_list_direction(search));
}


static u_char *
ngx_svc_scim_list_filtered(ngx_svc_scim_search_t *search, u_char *p)
{
    ngx_str_t              sort;
    const ngx_str_t       *first, *filter, *direction;
    ngx_svc_scim_where_t  *where;

    static const ngx_str_t  yes = ngx_string("true");
    static const ngx_str_t  scan = ngx_string(
                                          ngx_value(NGX_SVC_SCIM_LIST_SCAN));

    where = &search->where;
    filter = where->sql.len ? &where->sql : &yes;
    first = where->first.len ? &where->first : &yes;
    direction = ngx_svc_scim_list_direction(search);

    ngx_svc_scim_list_sort(search, &sort);

    return ngx_svc_compose_scim_filtered(p, &sort, direction, first, filter,
                                         &scan);
}


/* Gives what a page is sorted by: the time of creation unless asked. */

static void
ngx_svc_scim_list_sort(ngx_svc_scim_search_t *search, ngx_str_t *sort)
{
    const ngx_svc_scim_attr_t  *attr;

    attr = search->query.sort;

    sort->data = (u_char *) (attr ? attr->sort : "account.created_at");
    sort->len = ngx_strlen(sort->data);
}


static const ngx_str_t *
ngx_svc_scim_list_direction(ngx_svc_scim_search_t *search)
{
    static const ngx_str_t  up = ngx_null_string;
    static const ngx_str_t  down = ngx_string("DESC");

    return search->query.descending ? &down : &up;
}


static ngx_int_t
ngx_svc_scim_list_refused(ngx_svc_request_t *sr)
{
    const char  *state;

    state = PQresultErrorField(sr->op->error, PG_DIAG_SQLSTATE);

    if (state == NULL || ngx_strcmp(state, NGX_SVC_SCIM_CANCELED) != 0) {
        return NGX_DECLINED;
    }

    return ngx_svc_scim_list_too_many(sr);
}


static ngx_int_t
ngx_svc_scim_list_too_many(ngx_svc_request_t *sr)
{
    sr->error.kind = NGX_SVC_E_NONE;

    (void) ngx_svc_fail(&sr->error, NGX_SVC_E_TOO_MANY,
                        "More than %d users would have to be looked at: narrow "
                        "the filter by userName, emails.value, externalId, id "
                        "or meta.created with \"and\".",
                        NGX_SVC_SCIM_LIST_SCAN);

    return ngx_svc_send_error(sr);
}


static ngx_int_t
ngx_svc_scim_list_reply(ngx_svc_request_t *sr)
{
    int                         n;
    int64_t                     total;
    PGresult                   *res;
    ngx_svc_scim_query_t       *query;
    ngx_svc_scim_search_t      *search;
    ngx_svc_row_scim_listed_t   page;

    search = sr->data;
    query = &search->query;

    if (search->where.kind == NGX_SVC_SCIM_WHERE_NOBODY) {
        return ngx_svc_scim_list_send(sr, NULL, 0, 0, query->start,
                                      query->mask);
    }

    res = ngx_svc_result(sr, search->statement);
    n = PQntuples(res);
    total = n;

    if (PQnfields(res) == NGX_SVC_SCIM_COLS) {

        if (query->start > n || query->count == 0) {
            n = 0;
        }

        return ngx_svc_scim_list_send(sr, res, n, total, query->start,
                                      query->mask);
    }

    if (n == 0) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_row_scim_listed(&page, res, 0, 0);

    if (page.over) {
        return ngx_svc_scim_list_too_many(sr);
    }

    total = page.total;

    if (page.scim_user.id.data == NULL) {
        n = 0;
    }

    return ngx_svc_scim_list_send(sr, res, n, total, query->start,
                                  query->mask);
}
