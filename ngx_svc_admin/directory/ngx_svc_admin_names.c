/*
 * /v1/admin/names: what users, groups, roles and applications are called, for
 * whoever has to choose one of them without the right to list them.
 */

#include "ngx_svc_admin.h"
#include "ngx_svc_admin_user.h"


#define NGX_SVC_ADMIN_NAMES       20    /* in one answer */
#define NGX_SVC_ADMIN_NAMES_Q     2     /* characters of "q", at least */
#define NGX_SVC_ADMIN_NAMES_IDS   (NGX_SVC_ADMIN_NAMES                        \
                                   * (NGX_SVC_ADMIN_ROLE_MAX + 1))


/* What the "when" of the statements looks at. */

typedef struct {
    ngx_int_t   type;
} ngx_svc_admin_names_body_t;

/* sr->data, from the request's pool; one of them has no data. */

typedef struct {
    ngx_str_t   q;
    ngx_str_t   ids;                    /* a PostgreSQL array */
} ngx_svc_admin_names_t;


static ngx_int_t ngx_svc_admin_names_check(ngx_svc_request_t *sr, void *body);
static ngx_int_t ngx_svc_admin_names_text(ngx_svc_request_t *sr,
    ngx_str_t *q);
static ngx_int_t ngx_svc_admin_names_ids(ngx_svc_request_t *sr,
    ngx_int_t type, const ngx_str_t *text, ngx_str_t *ids);
static ngx_uint_t ngx_svc_admin_names_id(ngx_int_t type, ngx_str_t *id);
static ngx_uint_t ngx_svc_admin_names_users(const void *body);
static ngx_uint_t ngx_svc_admin_names_groups(const void *body);
static ngx_uint_t ngx_svc_admin_names_roles(const void *body);
static ngx_uint_t ngx_svc_admin_names_applications(const void *body);


/* These are in the order of the words. */

enum {
    NGX_SVC_ADMIN_NAMES_USER = 0,
    NGX_SVC_ADMIN_NAMES_GROUP,
    NGX_SVC_ADMIN_NAMES_ROLE,
    NGX_SVC_ADMIN_NAMES_APPLICATION
};

static const char *const  ngx_svc_admin_names_types[] = {
    "user", "group", "role", "application", NULL
};


#include "ngx_svc_admin_names.sql.h"


const ngx_svc_route_t  ngx_svc_admin_names[] = {

    { .method = NGX_HTTP_GET,
      .path = ngx_string("/admin/names"),
      .flags = NGX_SVC_ROUTE_CALLER,
      .body_size = sizeof(ngx_svc_admin_names_body_t),
      .check = ngx_svc_admin_names_check,
      .statements = { &ngx_svc_sql_admin_names_users,
                      &ngx_svc_sql_admin_names_groups,
                      &ngx_svc_sql_admin_names_roles,
                      &ngx_svc_sql_admin_names_applications } },

    ngx_svc_null_route
};


static ngx_int_t
ngx_svc_admin_names_check(ngx_svc_request_t *sr, void *body)
{
    ngx_int_t                    rc;
    ngx_str_t                    q, ids;
    ngx_svc_admin_names_t       *names;
    ngx_svc_admin_names_body_t  *asked = body;

    rc = ngx_svc_word_argument(sr, "type", ngx_svc_admin_names_types,
                               &asked->type);

    if (rc == NGX_OK) {
        rc = ngx_svc_text_argument(sr, "q", NGX_SVC_PAGE_QUERY, &q);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_text_argument(sr, "ids", NGX_SVC_ADMIN_NAMES_IDS, &ids);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    if (asked->type == -1) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                            "\"type\" is required.");
    }

    if ((q.data == NULL) == (ids.data == NULL)) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                            "One of \"q\" and \"ids\" is required.");
    }

    names = ngx_pcalloc(sr->request->pool, sizeof(ngx_svc_admin_names_t));
    if (names == NULL) {
        return NGX_ERROR;
    }

    sr->data = names;

    if (ids.data) {
        return ngx_svc_admin_names_ids(sr, asked->type, &ids, &names->ids);
    }

    if (asked->type == NGX_SVC_ADMIN_NAMES_USER) {
        sr->op->kind = NGX_SVC_PG_SLOW;
    }

    names->q = q;

    return ngx_svc_admin_names_text(sr, &names->q);
}


/* Blanks around the text do not count. */

static ngx_int_t
ngx_svc_admin_names_text(ngx_svc_request_t *sr, ngx_str_t *q)
{
    while (q->len && q->data[0] == ' ') {
        q->data++;
        q->len--;
    }

    while (q->len && q->data[q->len - 1] == ' ') {
        q->len--;
    }

    if (ngx_utf8_length(q->data, q->len) < NGX_SVC_ADMIN_NAMES_Q) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                            "\"q\" must have at least %d characters.",
                            NGX_SVC_ADMIN_NAMES_Q);
    }

    return NGX_OK;
}


/* What cannot be an id of that type is the id of nothing, and is left out. */

static ngx_int_t
ngx_svc_admin_names_ids(ngx_svc_request_t *sr, ngx_int_t type,
    const ngx_str_t *text, ngx_str_t *ids)
{
    u_char      *p, *last, *end;
    ngx_str_t    id;
    ngx_uint_t   n;

    p = ngx_pnalloc(sr->request->pool, text->len + sizeof("{}"));
    if (p == NULL) {
        return NGX_ERROR;
    }

    ids->data = p;
    *p++ = '{';
    n = 0;

    end = text->data + text->len;

    for (id.data = text->data; id.data <= end; id.data = last + 1) {

        last = ngx_strlchr(id.data, end, ',');
        if (last == NULL) {
            last = end;
        }

        if (++n > NGX_SVC_ADMIN_NAMES) {
            return ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                                "\"ids\" must have at most %d ids.",
                                NGX_SVC_ADMIN_NAMES);
        }

        id.len = last - id.data;

        if (!ngx_svc_admin_names_id(type, &id)) {
            continue;
        }

        if (p[-1] != '{') {
            *p++ = ',';
        }

        p = ngx_cpymem(p, id.data, id.len);
    }

    *p++ = '}';
    ids->len = p - ids->data;

    return NGX_OK;
}


/*
 * Returns whether a text may be an id of that type.  None of those that may has
 * a character that is special in an array.
 */

static ngx_uint_t
ngx_svc_admin_names_id(ngx_int_t type, ngx_str_t *id)
{
    u_char  ch;
    size_t  i;

    if (type == NGX_SVC_ADMIN_NAMES_USER || type == NGX_SVC_ADMIN_NAMES_GROUP) {
        return ngx_svc_admin_id_exact(id);
    }

    for (i = 0; i < id->len; i++) {
        ch = id->data[i];

        if (!((ch >= 'a' && ch <= 'z') || (ch >= '0' && ch <= '9')
              || ch == '_' || ch == '-'))
        {
            return 0;
        }
    }

    return id->len > 0;
}


static ngx_uint_t
ngx_svc_admin_names_users(const void *body)
{
    const ngx_svc_admin_names_body_t  *asked = body;

    return asked->type == NGX_SVC_ADMIN_NAMES_USER;
}


static ngx_uint_t
ngx_svc_admin_names_groups(const void *body)
{
    const ngx_svc_admin_names_body_t  *asked = body;

    return asked->type == NGX_SVC_ADMIN_NAMES_GROUP;
}


static ngx_uint_t
ngx_svc_admin_names_roles(const void *body)
{
    const ngx_svc_admin_names_body_t  *asked = body;

    return asked->type == NGX_SVC_ADMIN_NAMES_ROLE;
}


static ngx_uint_t
ngx_svc_admin_names_applications(const void *body)
{
    const ngx_svc_admin_names_body_t  *asked = body;

    return asked->type == NGX_SVC_ADMIN_NAMES_APPLICATION;
}
