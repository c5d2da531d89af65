/*
 * A directory, from its row.
 */

#include "ngx_svc_ldap_directory.h"
#include "ngx_svc_ldap_directory.row.h"
#include "ngx_svc_sealed.h"


#define NGX_SVC_LDAP_SEALED  "ldap"     /* as the configuration seals it */


static ngx_int_t ngx_svc_ldap_directory_texts(ngx_pool_t *pool,
    const ngx_svc_row_ldap_directory_t *row,
    ngx_svc_ldap_directory_t *directory);
static ngx_int_t ngx_svc_ldap_directory_text(ngx_pool_t *pool,
    ngx_str_t *to, const ngx_str_t *from);


#include "ngx_svc_ldap_directory.sql.h"


ngx_int_t
ngx_svc_ldap_directory(ngx_svc_request_t *sr, ngx_pool_t *pool,
    PGresult *res, ngx_svc_ldap_directory_t *directory)
{
    ngx_svc_main_conf_t           *smcf;
    ngx_svc_row_ldap_directory_t   row;

    smcf = ngx_http_cycle_get_module_main_conf((ngx_cycle_t *) ngx_cycle,
                                               ngx_http_svc_common_module);

    ngx_svc_row_ldap_directory(&row, res, 0);
    ngx_memzero(directory, sizeof(ngx_svc_ldap_directory_t));

    directory->start_tls = row.start_tls;
    directory->vouched = row.vouched;
    directory->alone = row.alone;
    directory->grouped = row.grouped;
    directory->allow = &smcf->allow;

    if (ngx_svc_uuid_parse(row.tenant.data, row.tenant.len, directory->tenant)
           != NGX_OK
        || ngx_svc_uuid_parse(row.connection.data, row.connection.len,
                              directory->id)
           != NGX_OK
        || ngx_svc_ldap_directory_texts(pool, &row, directory) != NGX_OK
        || ngx_svc_attribute_map_read(pool,
                                      &row.attribute_mapping,
                                      directory->attributes)
           != NGX_OK
        || ngx_svc_pg_array_read(pool, &row.mapped, &directory->mapped)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return row.bind_password.data == NULL
           ? NGX_OK
           : ngx_svc_sealed_text(sr, pool, NGX_SVC_LDAP_SEALED,
                                 &row.bind_password_id, &row.bind_password,
                                 "the password of a directory",
                                 directory->tenant,
                                 &directory->bind_password);
}


static ngx_int_t
ngx_svc_ldap_directory_texts(ngx_pool_t *pool,
    const ngx_svc_row_ldap_directory_t *row,
    ngx_svc_ldap_directory_t *directory)
{
    ngx_uint_t  i;

    const struct {
        ngx_str_t        *to;
        const ngx_str_t  *from;
    } texts[] = {
        { &directory->version, &row->version },
        { &directory->url, &row->url },
        { &directory->bind_dn, &row->bind_dn },
        { &directory->base_dn, &row->base_dn },
        { &directory->user_filter, &row->user_filter },
        { &directory->sync_filter, &row->sync_filter },
        { &directory->unique_id, &row->unique_id },
        { &directory->ca_certificates, &row->ca_certificates }
    };

    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (ngx_svc_ldap_directory_text(pool, texts[i].to, texts[i].from)
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_ldap_directory_text(ngx_pool_t *pool, ngx_str_t *to,
    const ngx_str_t *from)
{
    if (from->data == NULL) {
        return NGX_OK;
    }

    to->len = from->len;
    to->data = ngx_pnalloc(pool, ngx_max(from->len, 1));

    if (to->data == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(to->data, from->data, from->len);

    return NGX_OK;
}
