/*
 * A mail as an entry in Redis.
 */

#include "ngx_svc_mail_entry.h"


#define NGX_SVC_MAIL_LABEL  "svc.mail:"

/* bytes: the sealed text must fit, too */
#define NGX_SVC_MAIL_PACKED_MAX  (NGX_SVC_MAIL_PLAIN_MAX                      \
                                  - NGX_SVC_SEAL_OVERHEAD)


static ngx_int_t ngx_svc_mail_pack(const ngx_svc_mail_t *mail, u_char *p,
    size_t *len);
static ngx_int_t ngx_svc_mail_unpack(ngx_svc_mail_t *mail, u_char *p,
    u_char *end);


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
    const u_char id[NGX_SVC_ENTRY_ID], u_char *out, size_t *len)
{
    size_t      n;
    u_char      plain[NGX_SVC_MAIL_PLAIN_MAX];
    ngx_int_t   rc;

    if (ngx_svc_mail_pack(mail, plain, &n) != NGX_OK) {
        return NGX_DECLINED;
    }

    rc = ngx_svc_entry_seal(keys, NGX_SVC_MAIL_LABEL, id, &mail->tenant, plain,
                            n, out, len);

    ngx_explicit_memzero(plain, sizeof(plain));

    return rc;
}


static ngx_int_t
ngx_svc_mail_pack(const ngx_svc_mail_t *mail, u_char *p, size_t *len)
{
    u_char      *start, *end;
    ngx_uint_t   i;

    start = p;
    end = p + NGX_SVC_MAIL_PACKED_MAX;

    *p++ = (u_char) mail->kind;
    p = ngx_svc_entry_number(p, end, mail->not_after);

    for (i = 0; i < NGX_SVC_MAIL_FIELDS; i++) {
        p = ngx_svc_entry_write(p, end,
                                (const ngx_str_t *) ((const u_char *) mail
                                                 + ngx_svc_mail_fields[i]));
    }

    if (p == NULL) {
        return NGX_DECLINED;
    }

    *len = p - start;

    return NGX_OK;
}


ngx_int_t
ngx_svc_mail_entry_open(const ngx_svc_keys_t *keys, const ngx_str_t *entry,
    u_char *plain, ngx_svc_mail_t *mail)
{
    size_t     len;
    ngx_int_t  rc;

    if (entry->len > NGX_SVC_MAIL_ENTRY_MAX) {
        return NGX_DECLINED;
    }

    ngx_memzero(mail, sizeof(ngx_svc_mail_t));

    rc = ngx_svc_entry_open(keys, NGX_SVC_MAIL_LABEL, entry, plain, &len,
                            &mail->tenant);

    return rc == NGX_OK ? ngx_svc_mail_unpack(mail, plain, plain + len) : rc;
}


static ngx_int_t
ngx_svc_mail_unpack(ngx_svc_mail_t *mail, u_char *p, u_char *end)
{
    size_t       k;
    int64_t      time;
    ngx_str_t   *text;
    ngx_uint_t   i;

    if (p == end || *p >= NGX_SVC_MAIL_KINDS) {
        return NGX_DECLINED;
    }

    mail->kind = *p++;
    time = 0;
    p = ngx_svc_entry_read_number(p, end, &time);
    mail->not_after = (time_t) time;

    for (i = 0; i < NGX_SVC_MAIL_FIELDS; i++) {
        text = (ngx_str_t *) ((u_char *) mail + ngx_svc_mail_fields[i]);
        p = ngx_svc_entry_read(p, end, text);

        for (k = 0; p && k < text->len; k++) {
            if (text->data[k] < 0x20 || text->data[k] == 0x7f) {
                text->data[k] = ' ';
            }
        }
    }

    return p == end ? NGX_OK : NGX_DECLINED;
}
