/*
 * A writer of JSON.
 */

#include "ngx_svc_json_write.h"


#define NGX_SVC_JSON_ESCAPE_LEN  (sizeof("\\u0000") - 1)

#define ngx_svc_json_plain_char(c)                                            \
    ((c) >= 0x20 && (c) != '"' && (c) != '\\')


static size_t ngx_svc_json_plain_len(const u_char *data, size_t len);
static ngx_int_t ngx_svc_json_reserve(ngx_svc_json_writer_t *w, size_t size);
static ngx_int_t ngx_svc_json_grow(ngx_svc_json_writer_t *w, size_t size);
static u_char *ngx_svc_json_begin(ngx_svc_json_writer_t *w, const char *key,
    size_t size);
static u_char *ngx_svc_json_escape(u_char *p, u_char c);


/* The letter after the backslash for each control character (RFC 8259, 7). */

static const u_char  ngx_svc_json_escapes[] =
    "uuuuuuuubtnufruu" "uuuuuuuuuuuuuuuu";


ngx_int_t
ngx_svc_json_writer_init(ngx_svc_json_writer_t *w, ngx_pool_t *pool,
    size_t size)
{
    w->pool = pool;
    w->secret_at = 0;
    w->secret_len = 0;
    w->comma = 0;
    w->failed = 0;

    size = ngx_max(size, 64);

    w->start = ngx_pnalloc(pool, size);
    if (w->start == NULL) {
        w->last = NULL;
        w->end = NULL;
        w->failed = 1;
        return NGX_ERROR;
    }

    w->last = w->start;
    w->end = w->start + size;

    return NGX_OK;
}


void
ngx_svc_json_open(ngx_svc_json_writer_t *w, const char *key, u_char bracket)
{
    u_char  *p;

    p = ngx_svc_json_begin(w, key, 1);
    if (p == NULL) {
        return;
    }

    *p++ = bracket;

    w->last = p;
    w->comma = 0;
}


void
ngx_svc_json_close(ngx_svc_json_writer_t *w, u_char bracket)
{
    if (ngx_svc_json_reserve(w, 1) != NGX_OK) {
        return;
    }

    *w->last++ = bracket;
    w->comma = 1;
}


void
ngx_svc_json_string(ngx_svc_json_writer_t *w, const char *key,
    const u_char *data, size_t len)
{
    u_char  *p;

    p = ngx_svc_json_begin(w, key, len + 2);
    if (p == NULL) {
        return;
    }

    *p++ = '"';

    /* nearly all strings need no escaping */

    if (len == 0 || ngx_svc_json_plain_len(data, len) == len) {
        p = len ? ngx_cpymem(p, data, len) : p;
        *p++ = '"';
        w->last = p;
        return;
    }

    w->last = p;

    ngx_svc_json_string_append(w, data, len);
    ngx_svc_json_string_end(w);
}


void
ngx_svc_json_integer(ngx_svc_json_writer_t *w, const char *key, int64_t n)
{
    u_char    *p, *last, digits[NGX_INT64_LEN];
    uint64_t   u;

    p = ngx_svc_json_begin(w, key, NGX_INT64_LEN);
    if (p == NULL) {
        return;
    }

    u = (uint64_t) n;

    if (n < 0) {
        *p++ = '-';
        u = 0 - u;
    }

    last = digits + sizeof(digits);

    do {
        *--last = (u_char) ('0' + u % 10);
        u /= 10;
    } while (u);

    w->last = ngx_cpymem(p, last, digits + sizeof(digits) - last);
}


void
ngx_svc_json_boolean(ngx_svc_json_writer_t *w, const char *key, ngx_uint_t b)
{
    if (b) {
        ngx_svc_json_raw(w, key, (u_char *) "true", sizeof("true") - 1);

    } else {
        ngx_svc_json_raw(w, key, (u_char *) "false", sizeof("false") - 1);
    }
}


void
ngx_svc_json_null(ngx_svc_json_writer_t *w, const char *key)
{
    ngx_svc_json_raw(w, key, (u_char *) "null", sizeof("null") - 1);
}


void
ngx_svc_json_plain(ngx_svc_json_writer_t *w, const char *key,
    const u_char *data, size_t len)
{
    u_char  *p;

    p = ngx_svc_json_begin(w, key, len + 2);
    if (p == NULL) {
        return;
    }

    *p++ = '"';

    if (len) {
        p = ngx_cpymem(p, data, len);
    }

    *p++ = '"';

    w->last = p;
}


void
ngx_svc_json_raw(ngx_svc_json_writer_t *w, const char *key,
    const u_char *data, size_t len)
{
    u_char  *p;

    p = ngx_svc_json_begin(w, key, len);
    if (p == NULL) {
        return;
    }

    w->last = len ? ngx_cpymem(p, data, len) : p;
}


void
ngx_svc_json_string_begin(ngx_svc_json_writer_t *w, const char *key)
{
    u_char  *p;

    p = ngx_svc_json_begin(w, key, 1);
    if (p == NULL) {
        return;
    }

    *p++ = '"';
    w->last = p;
}


void
ngx_svc_json_string_append(ngx_svc_json_writer_t *w, const u_char *data,
    size_t len)
{
    size_t         n;
    const u_char  *end;

    if (len == 0) {
        return;
    }

    end = data + len;

    for ( ;; ) {
        n = ngx_svc_json_plain_len(data, end - data);

        if (ngx_svc_json_reserve(w, n + NGX_SVC_JSON_ESCAPE_LEN) != NGX_OK) {
            return;
        }

        w->last = ngx_cpymem(w->last, data, n);
        data += n;

        if (data == end) {
            return;
        }

        w->last = ngx_svc_json_escape(w->last, *data++);
    }
}


/* Returns how many bytes need no escaping; looks at eight bytes at once. */

static size_t
ngx_svc_json_plain_len(const u_char *data, size_t len)
{
    uint64_t       x, quote, slash, found;
    const u_char  *p, *end;

    const uint64_t  ones = 0x0101010101010101;
    const uint64_t  highs = 0x8080808080808080;

    p = data;
    end = data + len;

    for ( /* void */ ; end - p >= 8; p += 8) {
        ngx_memcpy(&x, p, 8);

        quote = x ^ (ones * '"');
        slash = x ^ (ones * '\\');

        found = ((x - ones * 0x20) & ~x) | ((quote - ones) & ~quote)
                | ((slash - ones) & ~slash);

        if (found & highs) {
            break;
        }
    }

    while (p < end && ngx_svc_json_plain_char(*p)) {
        p++;
    }

    return p - data;
}


void
ngx_svc_json_string_end(ngx_svc_json_writer_t *w)
{
    ngx_svc_json_close(w, '"');
}


static ngx_int_t
ngx_svc_json_reserve(ngx_svc_json_writer_t *w, size_t size)
{
    if (w->failed) {
        return NGX_ERROR;
    }

    if ((size_t) (w->end - w->last) >= size) {
        return NGX_OK;
    }

    return ngx_svc_json_grow(w, size);
}


static ngx_int_t
ngx_svc_json_grow(ngx_svc_json_writer_t *w, size_t size)
{
    size_t   len, room;
    u_char  *start;

    len = w->last - w->start;
    room = 2 * (w->end - w->start);

    if (room - len < size) {
        room = len + size;
    }

    start = ngx_pnalloc(w->pool, room);
    if (start == NULL) {
        w->failed = 1;
        return NGX_ERROR;
    }

    ngx_memcpy(start, w->start, len);

    /* frees the old buffer if it was large enough for its own allocation */

    (void) ngx_pfree(w->pool, w->start);

    w->start = start;
    w->last = start + len;
    w->end = start + room;

    return NGX_OK;
}


/*
 * Writes a comma and a key.  Returns where a value of size bytes goes; w->last
 * still points before the key.
 */

static u_char *
ngx_svc_json_begin(ngx_svc_json_writer_t *w, const char *key, size_t size)
{
    size_t   len;
    u_char  *p;

    len = key ? ngx_strlen(key) : 0;

    if (ngx_svc_json_reserve(w, len + sizeof(",\"\":") - 1 + size) != NGX_OK) {
        return NULL;
    }

    p = w->last;

    if (w->comma) {
        *p++ = ',';
    }

    if (len) {
        *p++ = '"';
        p = ngx_cpymem(p, key, len);
        *p++ = '"';
        *p++ = ':';
    }

    w->comma = 1;

    return p;
}


static u_char *
ngx_svc_json_escape(u_char *p, u_char c)
{
    static const u_char  hex[] = "0123456789abcdef";

    *p++ = '\\';

    if (c >= 0x20) {
        *p++ = c;
        return p;
    }

    *p++ = ngx_svc_json_escapes[c];

    if (ngx_svc_json_escapes[c] == 'u') {
        *p++ = '0';
        *p++ = '0';
        *p++ = hex[c >> 4];
        *p++ = hex[c & 0xf];
    }

    return p;
}


void
ngx_svc_json_secret(ngx_svc_json_writer_t *w, const char *key,
    const u_char *data, size_t len)
{
    w->secret_at = w->last - w->start;

    ngx_svc_json_plain(w, key, data, len);

    w->secret_len = w->last - w->start - w->secret_at;
}
