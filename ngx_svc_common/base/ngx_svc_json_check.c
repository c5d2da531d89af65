/*
 * The check of JSON that is read: one pass, without recursion.
 */

#include "ngx_svc_json_check.h"
#include "ngx_svc_utf8.h"


/*
 * cJSON copies a number into a buffer of 64 bytes, and loses what does not fit,
 * so a longer number is refused.
 */

#define NGX_SVC_JSON_NUMBER_LEN  63

/*
 * An exponent beyond this is out of range, whatever the digits are; the limit
 * keeps the sum from an overflow.
 */

#define NGX_SVC_JSON_EXPONENT    100000


typedef struct {
    const u_char     *start;
    const u_char     *p;
    const u_char     *end;
    ngx_uint_t        nvalues;
    ngx_uint_t        depth;
    uint64_t          objects;      /* a bit for each level, the lowest for the
                                       present one; 1: object, 0: array */
    ngx_svc_error_t  *err;
} ngx_svc_json_scan_t;


static ngx_int_t ngx_svc_json_value(ngx_svc_json_scan_t *s);
static ngx_int_t ngx_svc_json_enter(ngx_svc_json_scan_t *s);
static ngx_int_t ngx_svc_json_next(ngx_svc_json_scan_t *s);
static ngx_int_t ngx_svc_json_name(ngx_svc_json_scan_t *s);
static ngx_int_t ngx_svc_json_literal(ngx_svc_json_scan_t *s,
    const char *word, size_t len);
static ngx_int_t ngx_svc_json_quoted(ngx_svc_json_scan_t *s);
static ngx_int_t ngx_svc_json_backslash(ngx_svc_json_scan_t *s);
static ngx_int_t ngx_svc_json_hex4(ngx_svc_json_scan_t *s, ngx_uint_t *code);
static ngx_int_t ngx_svc_json_number(ngx_svc_json_scan_t *s);
static size_t ngx_svc_json_digits(ngx_svc_json_scan_t *s);
static ngx_uint_t ngx_svc_json_finite(const u_char *p, const u_char *end);
static ngx_int_t ngx_svc_json_exponent(const u_char *p, const u_char *end);
static void ngx_svc_json_space(ngx_svc_json_scan_t *s);
static ngx_int_t ngx_svc_json_error(ngx_svc_json_scan_t *s, const char *what);


/*
 * The leading digits of 2^1024 - 2^970, which is half-way from the largest
 * double to 2^1024, and is the first number that is rounded to infinity.  They
 * are more digits than a number may have.  It has 309 digits before the point.
 */

static const u_char  ngx_svc_json_limit[] =
    "1797693134862315807937289714053034150799341327100378269361737789";

#define NGX_SVC_JSON_LIMIT_EXPONENT  309

/*
 * A number below the smallest double is zero for some readers; for others, such
 * as PostgreSQL, it has as many digits as its exponent says.
 */

#define NGX_SVC_JSON_TINY_EXPONENT   (-323)


ngx_int_t
ngx_svc_json_check(const u_char *text, size_t len, ngx_svc_error_t *err)
{
    ngx_int_t            rc;
    ngx_svc_json_scan_t  s;

    if (len == 0) {
        return ngx_svc_fail(err, NGX_SVC_E_INVALID_SYNTAX,
                            "The body is empty.");
    }

    s.start = text;
    s.p = text;
    s.end = text + len;
    s.nvalues = 0;
    s.depth = 0;
    s.objects = 0;
    s.err = err;

    do {
        rc = ngx_svc_json_value(&s);

        if (rc == NGX_OK) {
            rc = ngx_svc_json_next(&s);
        }

    } while (rc == NGX_AGAIN);

    return rc;
}


/*
 * Reads a value, or the beginning of one.  Returns NGX_OK when it is complete;
 * NGX_AGAIN when the first value in it comes next; or NGX_DECLINED.
 */

static ngx_int_t
ngx_svc_json_value(ngx_svc_json_scan_t *s)
{
    ngx_svc_json_space(s);

    if (s->p == s->end) {
        return ngx_svc_json_error(s, "a value is missing");
    }

    if (++s->nvalues > NGX_SVC_JSON_MAX_VALUES) {
        return ngx_svc_json_error(s, "too many values");
    }

    switch (*s->p) {

    case '"':
        return ngx_svc_json_quoted(s);

    case '{':
    case '[':
        return ngx_svc_json_enter(s);

    case 't':
        return ngx_svc_json_literal(s, "true", sizeof("true") - 1);

    case 'f':
        return ngx_svc_json_literal(s, "false", sizeof("false") - 1);

    case 'n':
        return ngx_svc_json_literal(s, "null", sizeof("null") - 1);

    default:
        return ngx_svc_json_number(s);
    }
}


static ngx_int_t
ngx_svc_json_enter(ngx_svc_json_scan_t *s)
{
    ngx_uint_t  object;

    if (s->depth == NGX_SVC_JSON_MAX_DEPTH) {
        return ngx_svc_json_error(s, "nested too deeply");
    }

    object = (*s->p == '{');

    s->depth++;
    s->objects = (s->objects << 1) | object;
    s->p++;

    ngx_svc_json_space(s);

    if (s->p < s->end && *s->p == (object ? '}' : ']')) {
        s->p++;
        s->depth--;
        s->objects >>= 1;
        return NGX_OK;
    }

    return object ? ngx_svc_json_name(s) : NGX_AGAIN;
}


/*
 * Reads what follows a value.  Returns NGX_AGAIN when another value comes;
 * NGX_OK at the end; or NGX_DECLINED.
 *
 * At the full depth of 64 the outermost level has the highest bit, and no bit
 * is lost.
 */

static ngx_int_t
ngx_svc_json_next(ngx_svc_json_scan_t *s)
{
    ngx_uint_t  object;

    for ( ;; ) {
        ngx_svc_json_space(s);

        if (s->depth == 0) {
            break;
        }

        object = s->objects & 1;

        if (s->p < s->end && *s->p == ',') {
            s->p++;
            return object ? ngx_svc_json_name(s) : NGX_AGAIN;
        }

        if (s->p == s->end || *s->p != (object ? '}' : ']')) {
            return ngx_svc_json_error(s, object ? "\",\" or \"}\" is missing"
                                                : "\",\" or \"]\" is missing");
        }

        s->p++;
        s->depth--;
        s->objects >>= 1;
    }

    if (s->p != s->end) {
        return ngx_svc_json_error(s, "something follows the value");
    }

    return NGX_OK;
}


/* Reads a member's name, and the colon. */

static ngx_int_t
ngx_svc_json_name(ngx_svc_json_scan_t *s)
{
    ngx_svc_json_space(s);

    if (s->p == s->end || *s->p != '"') {
        return ngx_svc_json_error(s, "a member's name is missing");
    }

    if (ngx_svc_json_quoted(s) != NGX_OK) {
        return NGX_DECLINED;
    }

    ngx_svc_json_space(s);

    if (s->p == s->end || *s->p != ':') {
        return ngx_svc_json_error(s, "\":\" is missing");
    }

    s->p++;

    return NGX_AGAIN;
}


static ngx_int_t
ngx_svc_json_literal(ngx_svc_json_scan_t *s, const char *word, size_t len)
{
    if ((size_t) (s->end - s->p) < len || ngx_memcmp(s->p, word, len) != 0) {
        return ngx_svc_json_error(s, "a value is not valid");
    }

    s->p += len;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_json_quoted(ngx_svc_json_scan_t *s)
{
    u_char     c;
    ngx_int_t  rc;

    s->p++;

    while (s->p < s->end) {
        c = *s->p;

        if (c == '"') {
            s->p++;
            return NGX_OK;
        }

        if (c == '\\') {
            rc = ngx_svc_json_backslash(s);

        } else if (c >= 0x80) {
            rc = ngx_svc_utf8_char(&s->p, s->end);

            if (rc != NGX_OK) {
                rc = ngx_svc_json_error(s, "a string is not valid UTF-8");
            }

        } else if (c < 0x20) {
            rc = ngx_svc_json_error(s, "a control character is not escaped");

        } else {
            s->p++;
            continue;
        }

        if (rc != NGX_OK) {
            return rc;
        }
    }

    return ngx_svc_json_error(s, "a string does not end");
}


static ngx_int_t
ngx_svc_json_backslash(ngx_svc_json_scan_t *s)
{
    ngx_uint_t  code, low;

    static const char  escapes[] = "\"\\/bfnrt";

    if (s->end - s->p < 2) {
        return ngx_svc_json_error(s, "a string does not end");
    }

    if (s->p[1] != 'u') {

        if (memchr(escapes, s->p[1], sizeof(escapes) - 1) == NULL) {
            return ngx_svc_json_error(s, "an escape is not valid");
        }

        s->p += 2;
        return NGX_OK;
    }

    if (ngx_svc_json_hex4(s, &code) != NGX_OK) {
        return ngx_svc_json_error(s, "an escape is not valid");
    }

    if (code == 0) {
        return ngx_svc_json_error(s, "\\u0000 is not allowed");
    }

    if (code < 0xd800 || code > 0xdfff) {
        s->p += 6;
        return NGX_OK;
    }

    if (code >= 0xdc00) {
        return ngx_svc_json_error(s, "a surrogate stands alone");
    }

    s->p += 6;

    if (ngx_svc_json_hex4(s, &low) != NGX_OK || low < 0xdc00 || low > 0xdfff) {
        return ngx_svc_json_error(s, "a surrogate stands alone");
    }

    s->p += 6;

    return NGX_OK;
}


/* Reads the code of "\uXXXX" at s->p, without moving s->p. */

static ngx_int_t
ngx_svc_json_hex4(ngx_svc_json_scan_t *s, ngx_uint_t *code)
{
    ngx_int_t  n;

    if (s->end - s->p < 6 || s->p[0] != '\\' || s->p[1] != 'u') {
        return NGX_DECLINED;
    }

    n = ngx_hextoi((u_char *) s->p + 2, 4);
    if (n == NGX_ERROR) {
        return NGX_DECLINED;
    }

    *code = (ngx_uint_t) n;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_json_number(ngx_svc_json_scan_t *s)
{
    const u_char  *start;

    start = s->p;

    if (*s->p == '-') {
        s->p++;
    }

    if (s->p < s->end && *s->p == '0') {
        s->p++;

    } else if (ngx_svc_json_digits(s) == 0) {
        s->p = start;
        return ngx_svc_json_error(s, "a value is not valid");
    }

    if (s->p < s->end && *s->p == '.') {
        s->p++;

        if (ngx_svc_json_digits(s) == 0) {
            return ngx_svc_json_error(s, "a digit is missing");
        }
    }

    if (s->p < s->end && (*s->p == 'e' || *s->p == 'E')) {
        s->p++;

        if (s->p < s->end && (*s->p == '+' || *s->p == '-')) {
            s->p++;
        }

        if (ngx_svc_json_digits(s) == 0) {
            return ngx_svc_json_error(s, "a digit is missing");
        }
    }

    if (s->p - start > NGX_SVC_JSON_NUMBER_LEN) {
        s->p = start;
        return ngx_svc_json_error(s, "a number is too long");
    }

    if (!ngx_svc_json_finite(start, s->p)) {
        s->p = start;
        return ngx_svc_json_error(s, "a number is out of range");
    }

    return NGX_OK;
}


static size_t
ngx_svc_json_digits(ngx_svc_json_scan_t *s)
{
    const u_char  *start;

    start = s->p;

    while (s->p < s->end && *s->p >= '0' && *s->p <= '9') {
        s->p++;
    }

    return s->p - start;
}


/*
 * Returns 1 if a well-formed number is a finite double, and is not below the
 * smallest one.  Gathers the significant digits d1 d2 ... and the e of
 * 0.d1d2... * 10^e: unlike strtod() this does not depend on the locale.
 */

static ngx_uint_t
ngx_svc_json_finite(const u_char *p, const u_char *end)
{
    u_char      digits[NGX_SVC_JSON_NUMBER_LEN];
    size_t      n;
    ngx_int_t   exponent;
    ngx_uint_t  fraction;

    n = 0;
    exponent = 0;
    fraction = 0;

    for ( /* void */ ; p < end && *p != 'e' && *p != 'E'; p++) {

        if (*p == '.') {
            fraction = 1;

        } else if (*p == '0' && n == 0) {
            exponent -= fraction;

        } else if (*p != '-') {
            digits[n++] = *p;
            exponent += !fraction;
        }
    }

    exponent += ngx_svc_json_exponent(p, end);

    if (n == 0) {
        return exponent >= NGX_SVC_JSON_TINY_EXPONENT
               && exponent <= NGX_SVC_JSON_LIMIT_EXPONENT;
    }

    if (exponent != NGX_SVC_JSON_LIMIT_EXPONENT) {
        return exponent < NGX_SVC_JSON_LIMIT_EXPONENT
               && exponent >= NGX_SVC_JSON_TINY_EXPONENT;
    }

    /* a number with the leading digits of the limit, and no more, is smaller */

    return ngx_memcmp(digits, ngx_svc_json_limit, n) <= 0;
}


/* Returns the value of "e+NN"; 0 if there is no exponent. */

static ngx_int_t
ngx_svc_json_exponent(const u_char *p, const u_char *end)
{
    ngx_int_t   n;
    ngx_uint_t  negative;

    n = 0;
    negative = 0;

    for ( /* void */ ; p < end; p++) {

        if (*p == '-') {
            negative = 1;

        } else if (*p >= '0' && *p <= '9' && n < NGX_SVC_JSON_EXPONENT) {
            n = n * 10 + (*p - '0');
        }
    }

    return negative ? -n : n;
}


static void
ngx_svc_json_space(ngx_svc_json_scan_t *s)
{
    while (s->p < s->end
           && (*s->p == ' ' || *s->p == '\n' || *s->p == '\r'
               || *s->p == '\t'))
    {
        s->p++;
    }
}


static ngx_int_t
ngx_svc_json_error(ngx_svc_json_scan_t *s, const char *what)
{
    return ngx_svc_fail(s->err, NGX_SVC_E_INVALID_SYNTAX,
                        "The body is not valid JSON: %s at byte %uz.",
                        what, (size_t) (s->p - s->start));
}
