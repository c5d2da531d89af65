/*
 * /v1/integrations: the catalogue of applications that are known to work with
 * an identity provider.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_args.h"


#define NGX_SVC_ADMIN_INTEGRATION_Q     200     /* characters */
#define NGX_SVC_ADMIN_INTEGRATION_SIZE  256     /* bytes of one, first guess */

#define NGX_SVC_ADMIN_NO_INTEGRATION    "There is no integration with this key."


/* sr->data: what a client asks of the list. */

typedef struct {
    ngx_svc_page_t  page;
    ngx_str_t       q;
    ngx_int_t       category;       /* -1: any */
} ngx_svc_admin_integrations_t;


static ngx_int_t ngx_svc_admin_integrations_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_integrations_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_integration_prepare(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_admin_integration_reply(ngx_svc_request_t *sr);
static cJSON *ngx_svc_admin_integrations_all(ngx_svc_request_t *sr);
static const char *ngx_svc_admin_integration_text(cJSON *row,
    const char *member);
static ngx_uint_t ngx_svc_admin_integration_fits(cJSON *row,
    ngx_svc_admin_integrations_t *asked);
static void ngx_svc_admin_integration_write(ngx_svc_json_writer_t *w,
    cJSON *row);


/* Generated from conf/integrations.json. */

static const u_char  ngx_svc_admin_integrations_json[] =
#include "ngx_svc_integrations.h"
;

static const char *const  ngx_svc_admin_integration_categories[] = {
    "collaboration", "creative", "data", "development", "infrastructure",
    "monitoring", "productivity", "sales", "security", "storage", "support",
    NULL
};


const ngx_svc_route_t  ngx_svc_admin_integrations[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/integrations"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .prepare = ngx_svc_admin_integrations_prepare,
      .reply = ngx_svc_admin_integrations_reply },

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/integrations/*"),
      .permission = NGX_SVC_P_APPS_MANAGE,
      .prepare = ngx_svc_admin_integration_prepare,
      .reply = ngx_svc_admin_integration_reply },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_integrations_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t                      rc;
    ngx_svc_admin_integrations_t  *asked;

    asked = ngx_pcalloc(sr->request->pool,
                        sizeof(ngx_svc_admin_integrations_t));
    if (asked == NULL) {
        return NGX_ERROR;
    }

    sr->data = asked;

    rc = ngx_svc_page(sr, &asked->page);

    if (rc == NGX_OK) {
        rc = ngx_svc_text_argument(sr, "q", NGX_SVC_ADMIN_INTEGRATION_Q,
                                   &asked->q);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_word_argument(sr, "category",
                                   ngx_svc_admin_integration_categories,
                                   &asked->category);
    }

    return rc;
}


static ngx_int_t
ngx_svc_admin_integrations_reply(ngx_svc_request_t *sr)
{
    cJSON                         *row;
    int32_t                        total;
    ngx_svc_json_writer_t          w;
    ngx_svc_admin_integrations_t  *asked;

    asked = sr->data;
    row = ngx_svc_admin_integrations_all(sr);

    if (row == NULL
        || ngx_svc_json_writer_init(&w, sr->request->pool,
                                    sizeof(ngx_svc_admin_integrations_json))
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '{');
    ngx_svc_json_open(&w, "integrations", '[');

    for (total = 0; row; row = row->next) {

        if (!ngx_svc_admin_integration_fits(row, asked)) {
            continue;
        }

        if (total >= asked->page.offset
            && total - asked->page.offset < asked->page.limit)
        {
            ngx_svc_admin_integration_write(&w, row);
        }

        total++;
    }

    ngx_svc_json_close(&w, ']');
    ngx_svc_json_integer(&w, "total", total);
    ngx_svc_json_integer(&w, "limit", asked->page.limit);
    ngx_svc_json_integer(&w, "offset", asked->page.offset);
    ngx_svc_json_close(&w, '}');

    return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
}


/* The database only checks that the caller has the permission. */

static ngx_int_t
ngx_svc_admin_integration_prepare(ngx_svc_request_t *sr)
{
    return NGX_OK;
}


static ngx_int_t
ngx_svc_admin_integration_reply(ngx_svc_request_t *sr)
{
    cJSON                  *row;
    const char             *key;
    ngx_svc_json_writer_t   w;

    row = ngx_svc_admin_integrations_all(sr);

    if (row == NULL
        || ngx_svc_json_writer_init(&w, sr->request->pool,
                                    NGX_SVC_ADMIN_INTEGRATION_SIZE) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    for ( /* void */ ; row; row = row->next) {
        key = ngx_svc_admin_integration_text(row, "key");

        if (ngx_strlen(key) == sr->params[0].len
            && ngx_strncmp(key, sr->params[0].data, sr->params[0].len) == 0)
        {
            ngx_svc_admin_integration_write(&w, row);

            return ngx_svc_send(sr, NGX_HTTP_OK, &w, NULL);
        }
    }

    (void) ngx_svc_fail(&sr->error, NGX_SVC_E_NOT_FOUND, "%s",
                        NGX_SVC_ADMIN_NO_INTEGRATION);

    return ngx_svc_send_error(sr);
}


/*
 * Returns the first integration, of all by key, allocated from the request's
 * pool.  NULL: no memory.
 */

static cJSON *
ngx_svc_admin_integrations_all(ngx_svc_request_t *sr)
{
    cJSON      *json;
    ngx_str_t   text;

    text.data = (u_char *) ngx_svc_admin_integrations_json;
    text.len = sizeof(ngx_svc_admin_integrations_json) - 1;

    if (ngx_svc_json_parse(sr->request->pool, &text, &json, &sr->error)
        != NGX_OK)
    {
        return NULL;
    }

    return json->child->child;
}


static const char *
ngx_svc_admin_integration_text(cJSON *row, const char *member)
{
    return cJSON_GetObjectItemCaseSensitive(row, member)->valuestring;
}


/* Returns whether the row fits; q is looked for in the name, in any case. */

static ngx_uint_t
ngx_svc_admin_integration_fits(cJSON *row, ngx_svc_admin_integrations_t *asked)
{
    u_char      *name;
    const char  *category;

    if (asked->category != -1) {
        category = ngx_svc_admin_integration_categories[asked->category];

        if (ngx_strcmp(ngx_svc_admin_integration_text(row, "category"),
                       category)
            != 0)
        {
            return 0;
        }
    }

    if (asked->q.len == 0) {
        return 1;
    }

    name = (u_char *) ngx_svc_admin_integration_text(row, "name");

    return ngx_strlcasestrn(name, name + ngx_strlen(name), asked->q.data,
                            asked->q.len - 1)
           != NULL;
}


static void
ngx_svc_admin_integration_write(ngx_svc_json_writer_t *w, cJSON *row)
{
    cJSON       *item;
    const char  *text;

    static const char *const  members[] = { "key", "name", "category", NULL };

    const char *const  *member;

    ngx_svc_json_open(w, NULL, '{');

    for (member = members; *member; member++) {
        text = ngx_svc_admin_integration_text(row, *member);
        ngx_svc_json_plain(w, *member, (u_char *) text, ngx_strlen(text));
    }

    ngx_svc_json_open(w, "protocols", '[');

    item = cJSON_GetObjectItemCaseSensitive(row, "protocols")->child;

    for ( /* void */ ; item; item = item->next) {
        ngx_svc_json_plain(w, NULL, (u_char *) item->valuestring,
                           ngx_strlen(item->valuestring));
    }

    ngx_svc_json_close(w, ']');

    text = ngx_svc_admin_integration_text(row, "docsUrl");
    ngx_svc_json_plain(w, "docsUrl", (u_char *) text, ngx_strlen(text));

    ngx_svc_json_close(w, '}');
}
