/*
 * Sealed entries in Redis.
 */

#include "ngx_svc_entry.h"


#define NGX_SVC_ENTRY_LABEL  16         /* bytes, at most */


static size_t ngx_svc_entry_aad(u_char *aad, const char *label,
    const u_char *head);


ngx_int_t
ngx_svc_entry_seal(const ngx_svc_keys_t *keys, const char *label,
    const u_char id[NGX_SVC_ENTRY_ID], const ngx_str_t *tenant,
    const u_char *plain, size_t len, u_char *out, size_t *out_len)
{
    u_char     *p, aad[NGX_SVC_ENTRY_LABEL + NGX_SVC_ENTRY_HEAD];
    ngx_int_t   rc;

    if (tenant->len != NGX_SVC_UUID_TEXT_LEN) {
        return NGX_DECLINED;
    }

    p = ngx_cpymem(out, id, NGX_SVC_ENTRY_ID);
    *p++ = ' ';
    p = ngx_cpymem(p, tenant->data, NGX_SVC_UUID_TEXT_LEN);
    *p++ = '\n';

    rc = ngx_svc_seal(keys, plain, len, aad,
                      ngx_svc_entry_aad(aad, label, out), p, out_len);

    *out_len += p - out;

    return rc;
}


static size_t
ngx_svc_entry_aad(u_char *aad, const char *label, const u_char *head)
{
    u_char  *p;

    p = ngx_cpymem(aad, label, ngx_min(ngx_strlen(label), NGX_SVC_ENTRY_LABEL));
    p = ngx_cpymem(p, head, NGX_SVC_ENTRY_HEAD);

    return p - aad;
}


ngx_int_t
ngx_svc_entry_open(const ngx_svc_keys_t *keys, const char *label,
    const ngx_str_t *entry, u_char *plain, size_t *len, ngx_str_t *tenant)
{
    u_char     *p, aad[NGX_SVC_ENTRY_LABEL + NGX_SVC_ENTRY_HEAD];
    u_char      uuid[NGX_SVC_UUID_LEN];
    ngx_int_t   rc;

    p = entry->data;

    if (entry->len < NGX_SVC_ENTRY_HEAD + 1
        || p[NGX_SVC_ENTRY_ID] != ' ' || p[NGX_SVC_ENTRY_HEAD] != '\n')
    {
        return NGX_DECLINED;
    }

    tenant->data = p + NGX_SVC_ENTRY_ID + 1;
    tenant->len = NGX_SVC_UUID_TEXT_LEN;

    if (ngx_svc_uuid_parse(tenant->data, tenant->len, uuid) != NGX_OK) {
        return NGX_DECLINED;
    }

    rc = ngx_svc_unseal(keys, p + NGX_SVC_ENTRY_HEAD + 1,
                        entry->len - NGX_SVC_ENTRY_HEAD - 1, aad,
                        ngx_svc_entry_aad(aad, label, p), plain, len);

    return rc == NGX_DECLINED ? NGX_ABORT : rc;
}


u_char *
ngx_svc_entry_write(u_char *p, u_char *end, const ngx_str_t *text)
{
    if (p == NULL || text->len > 0xffff
        || (size_t) (end - p) < NGX_SVC_ENTRY_LEN + text->len)
    {
        return NULL;
    }

    *p++ = (u_char) (text->len >> 8);
    *p++ = (u_char) text->len;

    return text->len ? ngx_cpymem(p, text->data, text->len) : p;
}


u_char *
ngx_svc_entry_number(u_char *p, u_char *end, int64_t number)
{
    ngx_uint_t  i;

    if (p == NULL || end - p < NGX_SVC_ENTRY_NUMBER) {
        return NULL;
    }

    for (i = 0; i < NGX_SVC_ENTRY_NUMBER; i++) {
        *p++ = (u_char) ((uint64_t) number >> (8 * i));
    }

    return p;
}


u_char *
ngx_svc_entry_read(u_char *p, u_char *end, ngx_str_t *text)
{
    if (p == NULL || end - p < NGX_SVC_ENTRY_LEN) {
        return NULL;
    }

    text->len = (size_t) p[0] << 8 | p[1];
    text->data = p + NGX_SVC_ENTRY_LEN;

    return text->len <= (size_t) (end - text->data) ? text->data + text->len
                                                    : NULL;
}


u_char *
ngx_svc_entry_read_number(u_char *p, u_char *end, int64_t *number)
{
    uint64_t    n;
    ngx_uint_t  i;

    if (p == NULL || end - p < NGX_SVC_ENTRY_NUMBER) {
        return NULL;
    }

    n = 0;

    for (i = 0; i < NGX_SVC_ENTRY_NUMBER; i++) {
        n |= (uint64_t) *p++ << (8 * i);
    }

    *number = (int64_t) n;

    return p;
}
