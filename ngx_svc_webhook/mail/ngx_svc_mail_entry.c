/*
 * A mail as an entry in Redis.
 */

#include "ngx_svc_mail_entry.h"


#define NGX_SVC_MAIL_LABEL  "svc.mail:"
#define NGX_SVC_MAIL_AAD    (sizeof(NGX_SVC_MAIL_LABEL) - 1 + NGX_SVC_MAIL_HEAD)
#define NGX_SVC_MAIL_FIXED  9           /* bytes: kind, not_after */
#define NGX_SVC_MAIL_LEN    2           /* before each text */

/* bytes: the sealed text must fit, too */
#define NGX_SVC_MAIL_PACKED_MAX  (NGX_SVC_MAIL_PLAIN_MAX                      \
                                  - NGX_SVC_SEAL_OVERHEAD)


static ngx_int_t ngx_svc_mail_pack(const ngx_svc_mail_t *mail, u_char *p,
    size_t *len);
static ngx_int_t ngx_svc_mail_unpack(ngx_svc_mail_t *mail, u_char *p,
    u_char *end);
static void ngx_svc_mail_aad(u_char *aad, const u_char *head);


#define ngx_svc_mail_field(field)  offsetof(ngx_svc_mail_t, field)

static const size_t  ngx_svc_mail_fields[] = {
    ngx_svc_mail_field(to),
    ngx_svc_mail_field(name),
    ngx_svc_mail_field(locale),
    ngx_svc_mail_field(tenant_name),
    ngx_svc_mail_field(primary),
    ngx_svc_mail_field(logo_url),
    ngx_svc_mail_field(code),
    ngx_svc_mail_field(link),
    ngx_svc_mail_field(ip),
    ngx_svc_mail_field(country)
};

#define NGX_SVC_MAIL_FIELDS                                                   \
    (sizeof(ngx_svc_mail_fields) / sizeof(ngx_svc_mail_fields[0]))


ngx_int_t
ngx_svc_mail_entry_seal(const ngx_svc_keys_t *keys, const ngx_svc_mail_t *mail,
    const u_char id[NGX_SVC_MAIL_ID], u_char *out, size_t *len)
{
    size_t      n;
    u_char     *p, plain[NGX_SVC_MAIL_PLAIN_MAX], aad[NGX_SVC_MAIL_AAD];
    ngx_int_t   rc;

    if (mail->tenant.len != NGX_SVC_UUID_TEXT_LEN
        || ngx_svc_mail_pack(mail, plain, &n) != NGX_OK)
    {
        return NGX_DECLINED;
    }

    p = ngx_cpymem(out, id, NGX_SVC_MAIL_ID);
    *p++ = ' ';
    p = ngx_cpymem(p, mail->tenant.data, NGX_SVC_UUID_TEXT_LEN);
    *p++ = '\n';

    ngx_svc_mail_aad(aad, out);

    rc = ngx_svc_seal(keys, plain, n, aad, sizeof(aad), p, len);

    ngx_explicit_memzero(plain, sizeof(plain));
    *len += p - out;

    return rc;
}


static ngx_int_t
ngx_svc_mail_pack(const ngx_svc_mail_t *mail, u_char *p, size_t *len)
{
    size_t            n;
    uint64_t          time;
    ngx_uint_t        i;
    const ngx_str_t  *text;

    n = NGX_SVC_MAIL_FIXED;

    *p++ = (u_char) mail->kind;
    time = (uint64_t) mail->not_after;

    for (i = 0; i < sizeof(time); i++) {
        *p++ = (u_char) (time >> (8 * i));
    }

    for (i = 0; i < NGX_SVC_MAIL_FIELDS; i++) {
        text = (const ngx_str_t *) ((const u_char *) mail
                                    + ngx_svc_mail_fields[i]);

        if (text->len > NGX_SVC_MAIL_PACKED_MAX
            || n + NGX_SVC_MAIL_LEN + text->len > NGX_SVC_MAIL_PACKED_MAX)
        {
            return NGX_DECLINED;
        }

        n += NGX_SVC_MAIL_LEN + text->len;

        *p++ = (u_char) (text->len >> 8);
        *p++ = (u_char) text->len;
        p = ngx_cpymem(p, text->data, text->len);
    }

    *len = n;

    return NGX_OK;
}


static void
ngx_svc_mail_aad(u_char *aad, const u_char *head)
{
    aad = ngx_cpymem(aad, NGX_SVC_MAIL_LABEL, sizeof(NGX_SVC_MAIL_LABEL) - 1);
    ngx_memcpy(aad, head, NGX_SVC_MAIL_HEAD);
}


ngx_int_t
ngx_svc_mail_entry_open(const ngx_svc_keys_t *keys, const ngx_str_t *entry,
    u_char *plain, ngx_svc_mail_t *mail)
{
    size_t     len;
    u_char    *p, aad[NGX_SVC_MAIL_AAD], uuid[NGX_SVC_UUID_LEN];
    ngx_int_t  rc;

    p = entry->data;

    if (entry->len < NGX_SVC_MAIL_HEAD + 1
        || entry->len > NGX_SVC_MAIL_ENTRY_MAX
        || p[NGX_SVC_MAIL_ID] != ' ' || p[NGX_SVC_MAIL_HEAD] != '\n')
    {
        return NGX_DECLINED;
    }

    ngx_memzero(mail, sizeof(ngx_svc_mail_t));

    mail->tenant.data = p + NGX_SVC_MAIL_ID + 1;
    mail->tenant.len = NGX_SVC_UUID_TEXT_LEN;

    if (ngx_svc_uuid_parse(mail->tenant.data, mail->tenant.len, uuid)
        != NGX_OK)
    {
        return NGX_DECLINED;
    }

    ngx_svc_mail_aad(aad, p);
    p += NGX_SVC_MAIL_HEAD + 1;

    rc = ngx_svc_unseal(keys, p, entry->data + entry->len - p, aad,
                        sizeof(aad), plain, &len);

    if (rc == NGX_DECLINED) {
        return NGX_ABORT;
    }

    return rc == NGX_OK ? ngx_svc_mail_unpack(mail, plain, plain + len) : rc;
}


static ngx_int_t
ngx_svc_mail_unpack(ngx_svc_mail_t *mail, u_char *p, u_char *end)
{
    size_t       k;
    uint64_t     time;
    ngx_str_t   *text;
    ngx_uint_t   i;

    if (end - p < NGX_SVC_MAIL_FIXED || *p >= NGX_SVC_MAIL_KINDS) {
        return NGX_DECLINED;
    }

    mail->kind = *p++;
    time = 0;

    for (i = 0; i < sizeof(time); i++) {
        time |= (uint64_t) *p++ << (8 * i);
    }

    mail->not_after = (time_t) time;

    for (i = 0; i < NGX_SVC_MAIL_FIELDS; i++) {
        text = (ngx_str_t *) ((u_char *) mail + ngx_svc_mail_fields[i]);

        if (end - p < NGX_SVC_MAIL_LEN) {
            return NGX_DECLINED;
        }

        text->len = (size_t) p[0] << 8 | p[1];
        text->data = p + NGX_SVC_MAIL_LEN;

        if (text->len > (size_t) (end - text->data)) {
            return NGX_DECLINED;
        }

        for (k = 0; k < text->len; k++) {
            if (text->data[k] < 0x20 || text->data[k] == 0x7f) {
                text->data[k] = ' ';
            }
        }

        p = text->data + text->len;
    }

    return p == end ? NGX_OK : NGX_DECLINED;
}
