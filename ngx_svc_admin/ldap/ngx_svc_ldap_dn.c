/*
 * Distinguished names, by libldap, which asks nobody for that.  It may look at
 * the byte behind a name: a NUL.
 */

#include "ngx_svc_ldap_dn.h"
#include "ngx_svc_ldap_job.h"

#include <ldap.h>


ngx_int_t
ngx_svc_ldap_dn_key(ngx_pool_t *pool, const ngx_str_t *dn, ngx_str_t *key)
{
    int             rc;
    char           *text;
    LDAPDN          parts;
    struct berval   value;

    value.bv_val = ngx_svc_ldap_copy(pool, dn);
    value.bv_len = dn->len;

    if (value.bv_val == NULL) {
        return NGX_ERROR;
    }

    if (dn->len == 0
        || ldap_bv2dn(&value, &parts, LDAP_DN_FORMAT_LDAPV3) != LDAP_SUCCESS)
    {
        return NGX_DECLINED;
    }

    rc = ldap_dn2str(parts, &text, LDAP_DN_FORMAT_LDAPV3);

    ldap_dnfree(parts);

    if (rc != LDAP_SUCCESS) {
        return NGX_DECLINED;
    }

    key->len = ngx_strlen(text);
    key->data = ngx_pnalloc(pool, key->len + 1);

    if (key->data) {
        ngx_strlow(key->data, (u_char *) text, key->len);
    }

    ldap_memfree(text);

    return key->data ? NGX_OK : NGX_ERROR;
}
