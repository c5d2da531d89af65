/*
 * A delivery as text, as it is in Redis.
 */

#include "ngx_svc_webhook_entry.h"


typedef struct {
    u_char    *pos;
    u_char    *end;
} ngx_svc_webhook_cursor_t;


static ngx_int_t ngx_svc_webhook_entry_parse(ngx_svc_webhook_delivery_t *d,
    u_char *text, size_t len);
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


size_t
ngx_svc_webhook_entry_len(const ngx_svc_webhook_delivery_t *d)
{
    return sizeof("0 ") - 1 + d->id.len + d->event_id.len + d->tenant.len
           + d->endpoint.len + d->event.len + d->body.len
           + sizeof("    \n") - 1;
}


u_char *
ngx_svc_webhook_entry_write(u_char *p, const ngx_svc_webhook_delivery_t *d)
{
    return ngx_sprintf(p, "%ui %V %V %V %V %V\n%V", d->attempts, &d->id,
                       &d->event_id, &d->tenant, &d->endpoint, &d->event,
                       &d->body);
}


ngx_int_t
ngx_svc_webhook_entry_read(const u_char *text, size_t len, ngx_log_t *log,
    ngx_svc_webhook_delivery_t **delivery)
{
    u_char                      *p;
    ngx_svc_webhook_delivery_t  *d;

    if (len > NGX_SVC_WEBHOOK_BODY_MAX + 256) {
        return NGX_DECLINED;
    }

    d = ngx_alloc(sizeof(ngx_svc_webhook_delivery_t) + len, log);
    if (d == NULL) {
        return NGX_ERROR;
    }

    ngx_memzero(d, sizeof(ngx_svc_webhook_delivery_t));

    p = (u_char *) (d + 1);
    ngx_memcpy(p, text, len);

    if (ngx_svc_webhook_entry_parse(d, p, len) != NGX_OK) {
        ngx_free(d);
        return NGX_DECLINED;
    }

    *delivery = d;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_webhook_entry_parse(ngx_svc_webhook_delivery_t *d, u_char *text,
    size_t len)
{
    ngx_svc_webhook_cursor_t  c;

    c.pos = text;
    c.end = text + len;

    if (ngx_svc_webhook_entry_attempts(&c, &d->attempts) != NGX_OK
        || ngx_svc_webhook_entry_id(&c, &d->id) != NGX_OK
        || ngx_svc_webhook_entry_id(&c, &d->event_id) != NGX_OK
        || ngx_svc_webhook_entry_uuid(&c, &d->tenant) != NGX_OK
        || ngx_svc_webhook_entry_uuid(&c, &d->endpoint) != NGX_OK
        || ngx_svc_webhook_entry_event(&c, &d->event) != NGX_OK)
    {
        return NGX_ERROR;
    }

    d->body.data = c.pos;
    d->body.len = c.end - c.pos;

    if (d->body.len == 0 || d->body.len > NGX_SVC_WEBHOOK_BODY_MAX) {
        return NGX_ERROR;
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
        || word.data[0] >= '0' + NGX_SVC_WEBHOOK_ATTEMPTS)
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
        || id->len != NGX_SVC_WEBHOOK_ID)
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


/* What is before the delimiter; goes on behind it. */

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
