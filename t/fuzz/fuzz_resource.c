/*
 * Resource URIs.  An input has one URI on each line, and each is compared with
 * the next: their keys are equal if and only if a second reader (RFC 3986,
 * 6.2.2.1, 6.2.2.2 and 6.2.3) finds them equal.  Each is also written in other
 * ways, which must not change its key.
 */

#include "ngx_fuzz.h"
#include "ngx_svc_application_resource.h"


#define FUZZ_MAX  NGX_SVC_APPLICATION_RESOURCE
#define FUZZ_ROOM (4 * FUZZ_MAX + 16)


typedef struct {
    ngx_str_t  uri;                 /* up to its line feed */
    ngx_str_t  key;                 /* no length: it is refused */
    char       same[FUZZ_ROOM];
} fuzz_uri_t;


static void fuzz_uri(fuzz_uri_t *u);
static void fuzz_normal(const ngx_str_t *uri, char *out);
static size_t fuzz_authority(const char *scheme, const char *text, size_t len,
    char *out);
static void fuzz_percent(const char *text, char *out);
static void fuzz_other(const fuzz_uri_t *u, unsigned int how);


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t       i, start;
    u_char      *text;
    fuzz_uri_t  *last, *this, *swap;

    static fuzz_uri_t  uris[2];

    text = malloc(size + 1);
    fuzz_assert(text != NULL);

    memcpy(text, data, size);

    last = NULL;
    this = &uris[0];

    for (i = 0, start = 0; i <= size; i++) {

        if (i < size && text[i] != '\n') {
            continue;
        }

        this->uri.data = text + start;
        this->uri.len = i - start;
        start = i + 1;

        fuzz_uri(this);

        if (last && last->key.len && this->key.len) {
            fuzz_assert((last->key.len == this->key.len
                         && memcmp(last->key.data, this->key.data,
                                   this->key.len) == 0)
                        == (strcmp(last->same, this->same) == 0));
        }

        swap = last ? last : &uris[1];
        last = this;
        this = swap;
    }

    free(uris[0].key.data);
    free(uris[1].key.data);
    uris[0].key.data = NULL;
    uris[1].key.data = NULL;

    free(text);

    return 0;
}


static void
fuzz_uri(fuzz_uri_t *u)
{
    u_char      again[FUZZ_MAX + 2];
    ngx_str_t   key;
    ngx_uint_t  i;

    static const unsigned int  hows[] = { 1, 2, 4, 8, 24, 33, 63 };

    free(u->key.data);

    u->key.data = malloc(u->uri.len + 1);
    fuzz_assert(u->key.data != NULL);

    if (ngx_svc_application_resource(&u->uri, &u->key) != NGX_OK) {
        u->key.len = 0;
        return;
    }

    fuzz_assert(u->key.len >= 3 && u->key.len <= u->uri.len + 1);

    /* a key is its own key; it may be one byte too long to be accepted */

    key.data = again;

    if (u->key.len <= FUZZ_MAX) {
        fuzz_assert(ngx_svc_application_resource(&u->key, &key) == NGX_OK);
        fuzz_assert(key.len == u->key.len);
        fuzz_assert(memcmp(key.data, u->key.data, key.len) == 0);
    }

    fuzz_normal(&u->uri, u->same);

    fuzz_assert(strlen(u->same) == u->key.len);
    fuzz_assert(memcmp(u->same, u->key.data, u->key.len) == 0);

    for (i = 0; i < sizeof(hows) / sizeof(hows[0]); i++) {
        fuzz_other(u, hows[i]);
    }
}


/* Normalizes by RFC 3986's appendix B. */

static void
fuzz_normal(const ngx_str_t *uri, char *out)
{
    char    text[FUZZ_MAX + 1], scheme[FUZZ_MAX + 1];
    char    plain[FUZZ_ROOM];
    size_t  i, n, len;

    memcpy(text, uri->data, uri->len);
    text[uri->len] = '\0';

    n = strcspn(text, ":");

    for (i = 0; i < n; i++) {
        scheme[i] = (char) tolower((unsigned char) text[i]);
    }

    scheme[n] = '\0';

    len = (size_t) sprintf(plain, "%s:", scheme);
    n++;

    if (strncmp(text + n, "//", 2) == 0) {
        n += 2;
        i = strcspn(text + n, "/?#");

        len += (size_t) sprintf(plain + len, "//");
        len += fuzz_authority(scheme, text + n, i, plain + len);
        n += i;

        if (text[n] != '/') {
            plain[len++] = '/';
        }
    }

    strcpy(plain + len, text + n);

    fuzz_percent(plain, out);
}


static size_t
fuzz_authority(const char *scheme, const char *text, size_t len, char *out)
{
    size_t  i, port;

    for (i = 0; i < len; i++) {
        out[i] = (char) tolower((unsigned char) text[i]);
    }

    out[len] = '\0';

    port = strcmp(scheme, "https") == 0 ? strlen(":443")
           : strcmp(scheme, "http") == 0 ? strlen(":80") : len + 1;

    if (port <= len
        && strcmp(out + len - port, port == 4 ? ":443" : ":80") == 0)
    {
        len -= port;
        out[len] = '\0';
    }

    return len;
}


static void
fuzz_percent(const char *text, char *out)
{
    char          digits[3];
    unsigned int  c;

    for ( /* void */ ; *text; text++) {

        if (*text != '%') {
            *out++ = *text;
            continue;
        }

        digits[0] = text[1];
        digits[1] = text[2];
        digits[2] = '\0';
        c = (unsigned int) strtoul(digits, NULL, 16);
        text += 2;

        if ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')
            || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_'
            || c == '~')
        {
            *out++ = (char) c;

        } else {
            out += sprintf(out, "%%%02X", c);
        }
    }

    *out = '\0';
}


/* The bits of "how" say what is written in another way. */

static void
fuzz_other(const fuzz_uri_t *u, unsigned int how)
{
    char       text[FUZZ_ROOM], *p;
    u_char     again[FUZZ_ROOM];
    size_t     i, colon, host, path;
    ngx_str_t  uri, key;

    uri = u->uri;
    p = text;

    colon = 0;
    while (uri.data[colon] != ':') {
        colon++;
    }

    host = colon;
    path = colon + 1;

    if (uri.len > path + 1 && memcmp(uri.data + path, "//", 2) == 0) {
        for (path += 2; path < uri.len; path++) {
            if (uri.data[path] == '/' || uri.data[path] == '?') {
                break;
            }
        }

        host = path;
    }

    for (i = 0; i < host; i++) {
        *p++ = (how & 1) && isalpha(uri.data[i]) && (how & 32 || i % 2)
               ? (char) (uri.data[i] ^ 0x20) : (char) uri.data[i];
    }

    if (host > colon && memchr(uri.data + colon + 1, ':', host - colon - 1)
                        == NULL)
    {
        if ((how & 2) && strncmp(u->same, "https:", 6) == 0) {
            p += sprintf(p, ":443");

        } else if ((how & 2) && strncmp(u->same, "http:", 5) == 0) {
            p += sprintf(p, ":80");
        }
    }

    if (host == colon) {
        *p++ = ':';

    } else if ((how & 4) && (path == uri.len || uri.data[path] == '?')) {
        *p++ = '/';
    }

    for (i = path; i < uri.len; i++) {

        if ((how & 8) && isalnum(uri.data[i]) && uri.data[i - 1] != '%'
            && uri.data[i - 2] != '%')
        {
            p += sprintf(p, (how & 16) ? "%%%02x" : "%%%02X", uri.data[i]);

        } else {
            *p++ = (char) uri.data[i];
        }
    }

    uri.data = (u_char *) text;
    uri.len = p - text;

    if (uri.len > FUZZ_MAX) {
        return;
    }

    key.data = again;

    fuzz_assert(ngx_svc_application_resource(&uri, &key) == NGX_OK);
    fuzz_assert(key.len == u->key.len);
    fuzz_assert(memcmp(key.data, u->key.data, key.len) == 0);
}
