/*
 * A delivery as an entry in Redis.
 */

#include "ngx_svc_webhook_entry.h"


#define NGX_SVC_WEBHOOK_MAC  (2 * NGX_SVC_MAC_LEN)  /* digits */


typedef struct {
    u_char    *pos;
    u_char    *end;
} ngx_svc_webhook_cursor_t;


static ngx_int_t ngx_svc_webhook_entry_mac(const ngx_svc_mac_key_t *key,
    const u_char *text, size_t len, u_char *out);
static ngx_int_t ngx_svc_webhook_entry_verify(ngx_svc_webhook_delivery_t *d,
    ngx_svc_webhook_cursor_t *c);
static ngx_int_t ngx_svc_webhook_entry_parse(ngx_svc_webhook_delivery_t *d,
    ngx_svc_webhook_cursor_t *c);
static ngx_int_t ngx_svc_webhook_entry_attempts(ngx_svc_webhook_cursor_t *c,
    ngx_uint_t *attempts);
static ngx_int_t ngx_svc_webhook_entry_id(ngx_svc_webhook_cursor_t *c,
    ngx_str_t *id);
static ngx_int_t ngx_svc_webhook_entry_uuid(ngx_svc_webhook_cursor_t *c,
    ngx_str_t *uuid);
static ngx_int_t ngx_svc_webhook_entry_event(ngx_svc_webhook_cursor_t *c,
    ngx_str_t *event);
static ngx_int_t ngx_svc_webhook_entry_word(ngx_svc_webhook_cursor_t *c,
    ngx_str_t *word, u_char delimiter);
static ngx_uint_t ngx_svc_webhook_entry_hex(u_char ch);


static ngx_svc_macs_t  ngx_svc_webhook_macs;


ngx_int_t
ngx_svc_webhook_entry_init(const ngx_svc_keys_t *keys)
{
    return ngx_svc_mac_init(&ngx_svc_webhook_macs, keys,
                            NGX_SVC_WEBHOOK_ENTRY_LABEL);
}


void
ngx_svc_webhook_entry_exit(void)
{
    ngx_svc_mac_free(&ngx_svc_webhook_macs);
}


size_t
ngx_svc_webhook_entry_len(const ngx_svc_webhook_delivery_t *d)
{
    return ngx_svc_webhook_macs.keys[0].id_len + sizeof(": 0 ") - 1
           + NGX_SVC_WEBHOOK_MAC + d->id.len + d->event_id.len + d->tenant.len
           + d->endpoint.len + d->event.len + d->body.len
           + sizeof("    \n") - 1;
}


u_char *
ngx_svc_webhook_entry_write(u_char *p, const ngx_svc_webhook_delivery_t *d)
{
    u_char                   *mac, *text;
    const ngx_svc_mac_key_t  *key;

    key = &ngx_svc_webhook_macs.keys[0];

    mac = ngx_cpymem(p, key->id, key->id_len);
    *mac++ = ':';

    text = mac + NGX_SVC_WEBHOOK_MAC;
    *text++ = ' ';

    p = ngx_sprintf(text, "%ui %V %V %V %V %V\n%V", d->attempts, &d->id,
                    &d->event_id, &d->tenant, &d->endpoint, &d->event,
                    &d->body);

    if (ngx_svc_webhook_entry_mac(key, text, p - text, mac) != NGX_OK) {
        return NULL;
    }

    return p;
}


/* Writes the MAC in hexadecimal. */

static ngx_int_t
ngx_svc_webhook_entry_mac(const ngx_svc_mac_key_t *key, const u_char *text,
    size_t len, u_char *out)
{
    u_char  mac[NGX_SVC_MAC_LEN];

    if (ngx_svc_mac(key, text, len, mac) != NGX_OK) {
        return NGX_ERROR;
    }

    (void) ngx_hex_dump(out, mac, NGX_SVC_MAC_LEN);

    return NGX_OK;
}


ngx_int_t
ngx_svc_webhook_entry_sign(ngx_svc_webhook_delivery_t *d)
{
    d->signed_text.data[0] = (u_char) ('0' + d->attempts);

    return ngx_svc_webhook_entry_mac(d->key, d->signed_text.data,
                                     d->signed_text.len,
                                     d->signed_text.data - 1
                                     - NGX_SVC_WEBHOOK_MAC);
}


ngx_int_t
ngx_svc_webhook_entry_read(const u_char *text, size_t len, ngx_log_t *log,
    ngx_svc_webhook_delivery_t **delivery)
{
    u_char                      *p;
    ngx_int_t                    rc;
    ngx_svc_webhook_cursor_t     c;
    ngx_svc_webhook_delivery_t  *d;

    if (len > NGX_SVC_WEBHOOK_BODY_MAX + 320) {
        return NGX_DECLINED;
    }

    d = ngx_alloc(sizeof(ngx_svc_webhook_delivery_t) + 1 + len, log);
    if (d == NULL) {
        return NGX_ERROR;
    }

    ngx_memzero(d, sizeof(ngx_svc_webhook_delivery_t));

    p = (u_char *) (d + 1);
    *p++ = '\0';
    ngx_memcpy(p, text, len);

    c.pos = p;
    c.end = p + len;

    rc = ngx_svc_webhook_entry_verify(d, &c);

    if (rc == NGX_OK) {
        rc = ngx_svc_webhook_entry_parse(d, &c);
    }

    if (rc != NGX_OK) {
        ngx_free(d);
        return rc;
    }

    d->head.data = p;
    d->head.len = d->signed_text.data + 1 - p;

    *delivery = d;

    return NGX_OK;
}


/* Checks the MAC.  Returns as ngx_svc_webhook_entry_read(). */

static ngx_int_t
ngx_svc_webhook_entry_verify(ngx_svc_webhook_delivery_t *d,
    ngx_svc_webhook_cursor_t *c)
{
    u_char                    mac[NGX_SVC_WEBHOOK_MAC];
    ngx_str_t                 id, given;
    const ngx_svc_mac_key_t  *key;

    if (ngx_svc_webhook_entry_word(c, &id, ':') != NGX_OK
        || ngx_svc_webhook_entry_word(c, &given, ' ') != NGX_OK
        || given.len != NGX_SVC_WEBHOOK_MAC)
    {
        return NGX_DECLINED;
    }

    key = ngx_svc_mac_find(&ngx_svc_webhook_macs, id.data, id.len);
    if (key == NULL) {
        return NGX_ABORT;
    }

    d->key = key;
    d->signed_text.data = c->pos;
    d->signed_text.len = c->end - c->pos;

    if (ngx_svc_webhook_entry_mac(key, c->pos, c->end - c->pos, mac)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_equal(mac, given.data, sizeof(mac)) ? NGX_OK : NGX_ABORT;
}


static ngx_int_t
ngx_svc_webhook_entry_parse(ngx_svc_webhook_delivery_t *d,
    ngx_svc_webhook_cursor_t *c)
{
    if (ngx_svc_webhook_entry_attempts(c, &d->attempts) != NGX_OK
        || ngx_svc_webhook_entry_id(c, &d->id) != NGX_OK
        || ngx_svc_webhook_entry_id(c, &d->event_id) != NGX_OK
        || ngx_svc_webhook_entry_uuid(c, &d->tenant) != NGX_OK
        || ngx_svc_webhook_entry_uuid(c, &d->endpoint) != NGX_OK
        || ngx_svc_webhook_entry_event(c, &d->event) != NGX_OK)
    {
        return NGX_DECLINED;
    }

    d->body.data = c->pos;
    d->body.len = c->end - c->pos;

    if (d->body.len == 0 || d->body.len > NGX_SVC_WEBHOOK_BODY_MAX) {
        return NGX_DECLINED;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_webhook_entry_attempts(ngx_svc_webhook_cursor_t *c,
    ngx_uint_t *attempts)
{
    ngx_str_t  word;

    if (ngx_svc_webhook_entry_word(c, &word, ' ') != NGX_OK || word.len != 1
        || word.data[0] < '0'
        || word.data[0] > '0' + NGX_SVC_WEBHOOK_ATTEMPTS)
    {
        return NGX_ERROR;
    }

    *attempts = word.data[0] - '0';

    return NGX_OK;
}


static ngx_int_t
ngx_svc_webhook_entry_id(ngx_svc_webhook_cursor_t *c, ngx_str_t *id)
{
    size_t  i;

    if (ngx_svc_webhook_entry_word(c, id, ' ') != NGX_OK
        || id->len != NGX_SVC_ID_DIGITS)
    {
        return NGX_ERROR;
    }

    for (i = 0; i < id->len; i++) {
        if (!ngx_svc_webhook_entry_hex(id->data[i])) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_webhook_entry_uuid(ngx_svc_webhook_cursor_t *c, ngx_str_t *uuid)
{
    size_t      i;
    u_char      ch;
    ngx_uint_t  dash;

    if (ngx_svc_webhook_entry_word(c, uuid, ' ') != NGX_OK
        || uuid->len != NGX_SVC_WEBHOOK_UUID)
    {
        return NGX_ERROR;
    }

    for (i = 0; i < uuid->len; i++) {
        ch = uuid->data[i];
        dash = (i == 8 || i == 13 || i == 18 || i == 23);

        if (dash ? ch != '-' : !ngx_svc_webhook_entry_hex(ch)) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_webhook_entry_event(ngx_svc_webhook_cursor_t *c, ngx_str_t *event)
{
    size_t  i;
    u_char  ch;

    if (ngx_svc_webhook_entry_word(c, event, '\n') != NGX_OK
        || event->len == 0 || event->len > NGX_SVC_WEBHOOK_EVENT_MAX)
    {
        return NGX_ERROR;
    }

    for (i = 0; i < event->len; i++) {
        ch = event->data[i];

        if ((ch < 'a' || ch > 'z') && ch != '.' && ch != '_') {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


/* Reads up to the delimiter, and moves past it. */

static ngx_int_t
ngx_svc_webhook_entry_word(ngx_svc_webhook_cursor_t *c, ngx_str_t *word,
    u_char delimiter)
{
    u_char  *p;

    p = ngx_strlchr(c->pos, c->end, delimiter);
    if (p == NULL) {
        return NGX_ERROR;
    }

    word->data = c->pos;
    word->len = p - c->pos;

    c->pos = p + 1;

    return NGX_OK;
}


static ngx_uint_t
ngx_svc_webhook_entry_hex(u_char ch)
{
    return (ch >= '0' && ch <= '9') || (ch >= 'a' && ch <= 'f');
}
