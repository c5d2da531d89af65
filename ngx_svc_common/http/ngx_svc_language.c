/*
 * The languages that a request's Accept-Language asks for.
 */

#include "ngx_svc_language.h"
#include "ngx_svc_header.h"

#include <ctype.h>


#define NGX_SVC_LANGUAGES     6
#define NGX_SVC_LANGUAGE_LEN  16        /* bytes of one */
#define NGX_SVC_LANGUAGE_ONE  1000      /* the largest weight: q=1 */


typedef struct {
    ngx_str_t   tag;
    ngx_uint_t  weight;
} ngx_svc_language_t;


static ngx_uint_t ngx_svc_languages(const ngx_str_t *header,
    ngx_svc_language_t *languages);
static ngx_uint_t ngx_svc_language_take(u_char *p, u_char *end,
    ngx_svc_language_t *language);
static ngx_uint_t ngx_svc_language_weight(u_char *p, u_char *end);


ngx_int_t
ngx_svc_language(ngx_svc_request_t *sr, ngx_str_t *locale)
{
    u_char              *p;
    ngx_uint_t           i, n;
    ngx_table_elt_t     *h;
    ngx_svc_language_t   languages[NGX_SVC_LANGUAGES];

    h = ngx_svc_header_in(sr->request, "Accept-Language",
                          sizeof("Accept-Language") - 1, NULL);
    n = h ? ngx_svc_languages(&h->value, languages) : 0;

    if (n == 0) {
        return NGX_OK;
    }

    p = ngx_pnalloc(sr->request->pool,
                    locale->len + n * (NGX_SVC_LANGUAGE_LEN + 1));
    if (p == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(p, locale->data ? locale->data : (u_char *) "", locale->len);
    locale->data = p;
    p += locale->len;

    for (i = 0; i < n; i++) {
        if (p > locale->data) {
            *p++ = ',';
        }

        p = ngx_cpymem(p, languages[i].tag.data, languages[i].tag.len);
    }

    locale->len = p - locale->data;

    return NGX_OK;
}


/* Sorts the languages by weight; those of the same weight keep their order. */

static ngx_uint_t
ngx_svc_languages(const ngx_str_t *header, ngx_svc_language_t *languages)
{
    u_char              *p, *end, *comma;
    ngx_uint_t           i, n;
    ngx_svc_language_t   language;

    end = header->data + header->len;
    n = 0;

    for (p = header->data; p < end && n < NGX_SVC_LANGUAGES; p = comma + 1) {

        comma = ngx_strlchr(p, end, ',');
        if (comma == NULL) {
            comma = end;
        }

        if (!ngx_svc_language_take(p, comma, &language)) {
            continue;
        }

        for (i = n++; i && languages[i - 1].weight < language.weight; i--) {
            languages[i] = languages[i - 1];
        }

        languages[i] = language;
    }

    return n;
}


/* Returns 1 if the element is a language whose weight is not 0. */

static ngx_uint_t
ngx_svc_language_take(u_char *p, u_char *end, ngx_svc_language_t *language)
{
    u_char  *tag;

    while (p < end && (*p == ' ' || *p == '\t')) {
        p++;
    }

    for (tag = p; p < end && (isalnum(*p) || *p == '-'); p++) {
        /* void */
    }

    language->tag.data = tag;
    language->tag.len = p - tag;

    if (language->tag.len < 2 || language->tag.len > NGX_SVC_LANGUAGE_LEN
        || !isalpha(tag[0]) || !isalpha(tag[1]))
    {
        return 0;
    }

    language->weight = ngx_svc_language_weight(p, end);

    return language->weight != 0;
}


/* Returns the weight of ";q=0.8", in thousandths; 0 also if it is not valid. */

static ngx_uint_t
ngx_svc_language_weight(u_char *p, u_char *end)
{
    u_char      text[sizeof(";q=0.000")];
    size_t      n;
    ngx_uint_t  weight, i;

    for (n = 0; p < end; p++) {

        if (*p == ' ' || *p == '\t') {
            continue;
        }

        if (n == sizeof(text) - 1) {
            return 0;
        }

        text[n++] = ngx_tolower(*p);
    }

    if (n == 0) {
        return NGX_SVC_LANGUAGE_ONE;
    }

    if (n < sizeof(";q=") || ngx_strncmp(text, ";q=", 3) != 0
        || (text[3] != '0' && text[3] != '1')
        || (n > 4 && text[4] != '.'))
    {
        return 0;
    }

    weight = (text[3] - '0') * NGX_SVC_LANGUAGE_ONE;

    for (i = 5; i < n; i++) {
        if (!isdigit(text[i])) {
            return 0;
        }
    }

    weight += (n > 5) ? (text[5] - '0') * 100 : 0;
    weight += (n > 6) ? (text[6] - '0') * 10 : 0;
    weight += (n > 7) ? text[7] - '0' : 0;

    return ngx_min(weight, NGX_SVC_LANGUAGE_ONE);
}
