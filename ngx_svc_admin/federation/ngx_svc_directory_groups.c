/*
 * The groups of whoever signs in by a directory: which of them are mapped.
 */

#include "ngx_svc_directory_groups.h"
#include "ngx_svc_json_write.h"
#include "ngx_svc_ldap_dn.h"


#define NGX_SVC_DIRECTORY_GROUPS  1024  /* bytes of JSON, first guess */


static ngx_int_t ngx_svc_directory_groups_keys(ngx_pool_t *pool,
    const ngx_svc_ldap_t *ldap, ngx_svc_pg_array_t *keys);
static ngx_int_t ngx_svc_directory_groups_write(ngx_pool_t *pool,
    const ngx_svc_pg_array_t *mapped, const ngx_svc_pg_array_t *keys,
    ngx_svc_json_writer_t *w);


/*
 * Where groups are mapped no more, what was given by them goes.  When there are
 * more than were read all stays as it is.
 */

ngx_int_t
ngx_svc_directory_groups(ngx_svc_federation_flow_t *flow,
    const ngx_svc_ldap_directory_t *directory, const ngx_svc_ldap_t *ldap)
{
    ngx_pool_t             *pool;
    ngx_svc_pg_array_t      keys;
    ngx_svc_json_writer_t   w;

    if (!directory->grouped || ldap->cut) {
        return NGX_OK;
    }

    pool = flow->login.sr->request->pool;

    if (ngx_svc_directory_groups_keys(pool, ldap, &keys) != NGX_OK
        || ngx_svc_json_writer_init(&w, pool, NGX_SVC_DIRECTORY_GROUPS)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_svc_json_open(&w, NULL, '[');

    if (ngx_svc_directory_groups_write(pool, &directory->mapped, &keys, &w)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_svc_json_close(&w, ']');

    flow->proof.groups.data = w.start;
    flow->proof.groups.len = w.last - w.start;

    return w.failed ? NGX_ERROR : NGX_OK;
}


static ngx_int_t
ngx_svc_directory_groups_keys(ngx_pool_t *pool, const ngx_svc_ldap_t *ldap,
    ngx_svc_pg_array_t *keys)
{
    ngx_int_t   rc;
    ngx_uint_t  i;

    keys->n = 0;
    keys->elts = ngx_palloc(pool, ngx_max(ldap->nmember_of, 1)
                                  * sizeof(ngx_str_t));
    if (keys->elts == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < ldap->nmember_of; i++) {
        rc = ngx_svc_ldap_dn_key(pool, &ldap->member_of[i],
                                 &keys->elts[keys->n]);
        if (rc == NGX_ERROR) {
            return NGX_ERROR;
        }

        keys->n += rc == NGX_OK;
    }

    return NGX_OK;
}


/* They are written as the mapping has them, which PostgreSQL compares. */

static ngx_int_t
ngx_svc_directory_groups_write(ngx_pool_t *pool,
    const ngx_svc_pg_array_t *mapped, const ngx_svc_pg_array_t *keys,
    ngx_svc_json_writer_t *w)
{
    ngx_int_t         rc;
    ngx_str_t         key;
    ngx_uint_t        i;
    const ngx_str_t  *name;

    for (i = 0; i < mapped->n; i++) {
        name = &mapped->elts[i];
        rc = ngx_svc_ldap_dn_key(pool, name, &key);

        if (rc == NGX_ERROR) {
            return NGX_ERROR;
        }

        if (rc == NGX_OK && ngx_svc_pg_array_has(keys, &key)) {
            ngx_svc_json_string(w, NULL, name->data, name->len);
        }
    }

    return NGX_OK;
}
