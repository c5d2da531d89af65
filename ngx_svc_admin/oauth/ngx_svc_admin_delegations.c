/*
 * GET /v1/admin/agents/delegations: which client acted for whom.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_args.h"
#include "ngx_svc_bind.h"


#define NGX_SVC_ADMIN_DELEGATION_ID  200    /* characters of a filter */


/* The filter by which rows are found; each has an index of its own. */

typedef enum {
    NGX_SVC_ADMIN_DELEGATIONS_ALL = 0,
    NGX_SVC_ADMIN_DELEGATIONS_CHAIN,
    NGX_SVC_ADMIN_DELEGATIONS_CLIENT,
    NGX_SVC_ADMIN_DELEGATIONS_USER,
    NGX_SVC_ADMIN_DELEGATIONS_ROOT,
    NGX_SVC_ADMIN_DELEGATIONS_TOKEN
} ngx_svc_admin_delegations_by_e;

/*
 * The filters: sr->data, which begins with the page, as parameters expect it
 * there.  No data: any.
 */

typedef struct {
    ngx_svc_page_t  page;       /* must be first */
    ngx_str_t       client_id;
    ngx_str_t       user_id;
    ngx_str_t       in_chain;
    ngx_str_t       token_id;
    ngx_str_t       root_id;
    ngx_str_t       outcome;
    ngx_str_t       from;       /* milliseconds since the epoch, as text */
    ngx_str_t       to;
} ngx_svc_admin_delegations_t;


static ngx_int_t ngx_svc_admin_delegations_check(ngx_svc_request_t *sr,
    void *body);
static ngx_int_t ngx_svc_admin_delegations_filter(ngx_svc_request_t *sr,
    ngx_svc_admin_delegations_t *list);
static ngx_int_t ngx_svc_admin_delegations_text(ngx_svc_request_t *sr,
    const char *name, ngx_str_t *text);
static ngx_int_t ngx_svc_admin_delegations_argument(ngx_svc_request_t *sr,
    const char *name, ngx_str_t *text);
static ngx_svc_admin_delegations_by_e ngx_svc_admin_delegations_by(
    const ngx_svc_admin_delegations_t *list);
static ngx_uint_t ngx_svc_admin_delegations_all(const void *body);
static ngx_uint_t ngx_svc_admin_delegations_chain(const void *body);
static ngx_uint_t ngx_svc_admin_delegations_client(const void *body);
static ngx_uint_t ngx_svc_admin_delegations_user(const void *body);
static ngx_uint_t ngx_svc_admin_delegations_root(const void *body);
static ngx_uint_t ngx_svc_admin_delegations_of_token(const void *body);


#include "ngx_svc_admin_delegations.sql.h"


const ngx_svc_route_t  ngx_svc_admin_delegations[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/agents/delegations"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .body_size = sizeof(ngx_svc_admin_delegations_by_e),
      .check = ngx_svc_admin_delegations_check,
      .statements = { &ngx_svc_sql_admin_delegations_token,
                      &ngx_svc_sql_admin_delegations_root,
                      &ngx_svc_sql_admin_delegations_user,
                      &ngx_svc_sql_admin_delegations_client,
                      &ngx_svc_sql_admin_delegations_chain,
                      &ngx_svc_sql_admin_delegations_all },
      .list = "delegations" },

    ngx_svc_null_route
};


/*
 * Reads the filters.  A filter besides the one that finds rows may have to
 * look at many of them: the request goes to the slow pool.
 */

static ngx_int_t
ngx_svc_admin_delegations_check(ngx_svc_request_t *sr, void *body)
{
    ngx_int_t                        rc;
    ngx_svc_page_t                  *page;
    ngx_svc_admin_delegations_t     *list;
    ngx_svc_admin_delegations_by_e  *by = body;

    list = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_admin_delegations_t));
    if (list == NULL) {
        return NGX_ERROR;
    }

    page = sr->data;
    list->page = *page;

    sr->data = list;

    rc = ngx_svc_admin_delegations_filter(sr, list);
    if (rc != NGX_OK) {
        return rc;
    }

    *by = ngx_svc_admin_delegations_by(list);

    if (list->in_chain.data || list->outcome.data
        || (list->user_id.data && list->client_id.data))
    {
        sr->op->kind = NGX_SVC_PG_SLOW;
    }

    sr->slow = "The search took too long: narrow it with \"from\" and \"to\".";

    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_delegations_filter(ngx_svc_request_t *sr,
    ngx_svc_admin_delegations_t *list)
{
    ngx_int_t  rc, n;

    static const char *const  outcomes[] = { "granted", "refused", NULL };

    if ((rc = ngx_svc_admin_delegations_text(sr, "clientId", &list->client_id))
        != NGX_OK
        || (rc = ngx_svc_admin_delegations_text(sr, "userId", &list->user_id))
           != NGX_OK
        || (rc = ngx_svc_admin_delegations_text(sr, "inChain",
                                                &list->in_chain))
           != NGX_OK
        || (rc = ngx_svc_admin_delegations_argument(sr, "tokenId",
                                                 &list->token_id))
           != NGX_OK
        || (rc = ngx_svc_admin_delegations_argument(sr, "rootTokenId",
                                                 &list->root_id))
           != NGX_OK
        || (rc = ngx_svc_word_argument(sr, "outcome", outcomes, &n)) != NGX_OK
        || (rc = ngx_svc_time_argument(sr, "from", &list->from)) != NGX_OK)
    {
        return rc;
    }

    if (n >= 0) {
        list->outcome.data = (u_char *) outcomes[n];
        list->outcome.len = ngx_strlen(outcomes[n]);
    }

    return ngx_svc_time_argument(sr, "to", &list->to);
}


/* Gets an argument; an empty one counts as absent. */

static ngx_int_t
ngx_svc_admin_delegations_text(ngx_svc_request_t *sr, const char *name,
    ngx_str_t *text)
{
    ngx_int_t  rc;

    rc = ngx_svc_text_argument(sr, name, NGX_SVC_ADMIN_DELEGATION_ID, text);

    if (text->len == 0) {
        text->data = NULL;
    }

    return rc;
}


/* Gets an argument that is a token's id, as bytes. */

static ngx_int_t
ngx_svc_admin_delegations_argument(ngx_svc_request_t *sr, const char *name,
    ngx_str_t *id)
{
    ngx_int_t  rc;
    ngx_str_t  text;

    rc = ngx_svc_argument(sr, name, &text);
    if (rc != NGX_OK || text.len == 0) {
        return rc;
    }

    id->data = ngx_pnalloc(sr->request->pool, NGX_SVC_UUID_LEN);
    if (id->data == NULL) {
        return NGX_ERROR;
    }

    id->len = NGX_SVC_UUID_LEN;

    if (ngx_svc_uuid_parse(text.data, text.len, id->data) == NGX_OK) {
        return NGX_OK;
    }

    return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_REQUEST,
                        "\"%s\" must be a token's id: its \"jti\", a UUID.",
                        name);
}


static ngx_svc_admin_delegations_by_e
ngx_svc_admin_delegations_by(const ngx_svc_admin_delegations_t *list)
{
    return list->token_id.data ? NGX_SVC_ADMIN_DELEGATIONS_TOKEN
           : list->root_id.data ? NGX_SVC_ADMIN_DELEGATIONS_ROOT
           : list->user_id.data ? NGX_SVC_ADMIN_DELEGATIONS_USER
           : list->client_id.data ? NGX_SVC_ADMIN_DELEGATIONS_CLIENT
           : list->in_chain.data ? NGX_SVC_ADMIN_DELEGATIONS_CHAIN
                                 : NGX_SVC_ADMIN_DELEGATIONS_ALL;
}


#define ngx_svc_admin_delegations_when(name, by)                              \
                                                                              \
static ngx_uint_t                                                             \
name(const void *body)                                                        \
{                                                                             \
    return *(const ngx_svc_admin_delegations_by_e *) body == by;              \
}

ngx_svc_admin_delegations_when(ngx_svc_admin_delegations_all,
                               NGX_SVC_ADMIN_DELEGATIONS_ALL)
ngx_svc_admin_delegations_when(ngx_svc_admin_delegations_chain,
                               NGX_SVC_ADMIN_DELEGATIONS_CHAIN)
ngx_svc_admin_delegations_when(ngx_svc_admin_delegations_client,
                               NGX_SVC_ADMIN_DELEGATIONS_CLIENT)
ngx_svc_admin_delegations_when(ngx_svc_admin_delegations_user,
                               NGX_SVC_ADMIN_DELEGATIONS_USER)
ngx_svc_admin_delegations_when(ngx_svc_admin_delegations_root,
                               NGX_SVC_ADMIN_DELEGATIONS_ROOT)
ngx_svc_admin_delegations_when(ngx_svc_admin_delegations_of_token,
                               NGX_SVC_ADMIN_DELEGATIONS_TOKEN)
