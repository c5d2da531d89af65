/*
 * Headers of requests and of answers.
 */

#include "ngx_svc_header.h"


#define NGX_SVC_REQUEST_ID      32      /* hex digits */
#define NGX_SVC_REQUEST_IDS     32      /* made at once */


static void ngx_svc_request_id_make(ngx_http_request_t *r,
    ngx_http_variable_value_t *v);


ngx_int_t
ngx_svc_add_header(ngx_http_request_t *r, const char *name, ngx_str_t *value)
{
    return ngx_svc_header_push(r, name, value) ? NGX_OK : NGX_ERROR;
}


ngx_table_elt_t *
ngx_svc_header_push(ngx_http_request_t *r, const char *name, ngx_str_t *value)
{
    ngx_table_elt_t  *h;

    h = ngx_list_push(&r->headers_out.headers);
    if (h == NULL) {
        return NULL;
    }

    ngx_memzero(h, sizeof(ngx_table_elt_t));

    h->hash = 1;
    h->key.data = (u_char *) name;
    h->key.len = ngx_strlen(name);
    h->value = *value;

    return h;
}


ngx_table_elt_t *
ngx_svc_header_in(ngx_http_request_t *r, const char *name, size_t len,
    ngx_table_elt_t *behind)
{
    ngx_uint_t        i;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *h;

    for (part = &r->headers_in.headers.part; part; part = part->next) {
        h = part->elts;

        for (i = 0; i < part->nelts; i++) {
            if (h[i].key.len != len
                || ngx_strncasecmp(h[i].key.data, (u_char *) name, len) != 0)
            {
                continue;
            }

            if (behind == NULL) {
                return &h[i];
            }

            if (behind == &h[i]) {
                behind = NULL;
            }
        }
    }

    return NULL;
}


ngx_str_t
ngx_svc_request_id(ngx_http_request_t *r)
{
    ngx_str_t                   id;
    ngx_svc_main_conf_t        *smcf;
    ngx_http_variable_value_t  *v;

    smcf = ngx_http_get_module_main_conf(r, ngx_http_svc_common_module);

    v = &r->variables[smcf->request_id];

    if (!v->valid && !v->not_found) {
        ngx_svc_request_id_make(r, v);
    }

    v = ngx_http_get_indexed_variable(r, smcf->request_id);

    if (v == NULL || v->not_found) {
        ngx_str_null(&id);

    } else {
        id.data = v->data;
        id.len = v->len;
    }

    return id;
}


/*
 * Sets the value of $request_id, as nginx would.  OpenSSL takes nearly as long
 * for 16 random bytes as for those of many ids.  When it fails the value is not
 * set, and nginx makes one in its own way.
 */

static void
ngx_svc_request_id_make(ngx_http_request_t *r, ngx_http_variable_value_t *v)
{
    u_char             *id;

    static u_char       random[NGX_SVC_REQUEST_IDS][NGX_SVC_REQUEST_ID / 2];
    static ngx_uint_t   left;

    if (left == 0) {
        if (ngx_svc_random(random[0], sizeof(random)) != NGX_OK) {
            return;
        }

        left = NGX_SVC_REQUEST_IDS;
    }

    id = ngx_pnalloc(r->pool, NGX_SVC_REQUEST_ID);
    if (id == NULL) {
        return;
    }

    ngx_hex_dump(id, random[--left], NGX_SVC_REQUEST_ID / 2);

    v->data = id;
    v->len = NGX_SVC_REQUEST_ID;
    v->valid = 1;
    v->no_cacheable = 0;
    v->not_found = 0;
}
