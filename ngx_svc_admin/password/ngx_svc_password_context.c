/*
 * The words that a password must not be made of.
 */

#include "ngx_svc_password_context.h"

#include <openssl/crypto.h>


#define NGX_SVC_PASSWORD_TOKEN  4       /* length; from it on never allowed */
#define NGX_SVC_PASSWORD_SHORT  2
#define NGX_SVC_PASSWORD_LEFT   4


/* A password: as it is, and folded. */

typedef struct {
    const ngx_svc_password_chars_t  *raw;
    ngx_svc_password_chars_t         folded;
} ngx_svc_password_folded_t;


static ngx_uint_t ngx_svc_password_word(ngx_svc_password_folded_t *password,
    const ngx_svc_password_word_t *word);
static void ngx_svc_password_part(const ngx_svc_password_word_t *word,
    ngx_str_t *part);
static ngx_uint_t ngx_svc_password_tokens(ngx_svc_password_folded_t *password,
    ngx_svc_password_chars_t *text);
static ngx_uint_t ngx_svc_password_whole(ngx_svc_password_folded_t *password,
    ngx_svc_password_chars_t *text);
static ngx_uint_t ngx_svc_password_token(ngx_svc_password_folded_t *password,
    const wint_t *token, ngx_uint_t len);
static ngx_uint_t ngx_svc_password_left(ngx_svc_password_folded_t *password,
    const wint_t *token, ngx_uint_t len);
static ngx_uint_t ngx_svc_password_at(const ngx_svc_password_chars_t *text,
    ngx_uint_t i, const wint_t *token, ngx_uint_t len);
static void ngx_svc_password_fold(ngx_svc_password_chars_t *text);


const ngx_svc_password_word_t *
ngx_svc_password_context(const ngx_svc_password_chars_t *password,
    const ngx_svc_password_word_t *words, ngx_uint_t n)
{
    ngx_svc_password_folded_t         text;
    const ngx_svc_password_word_t  *found;

    found = NULL;

    text.raw = password;
    text.folded = *password;
    ngx_svc_password_fold(&text.folded);

    for ( /* void */ ; n; n--, words++) {
        if (ngx_svc_password_word(&text, words)) {
            found = words;
            break;
        }
    }

    OPENSSL_cleanse(&text, sizeof(ngx_svc_password_folded_t));

    return found;
}


static ngx_uint_t
ngx_svc_password_word(ngx_svc_password_folded_t *password,
    const ngx_svc_password_word_t *word)
{
    ngx_str_t                 part;
    ngx_svc_password_chars_t  text;

    ngx_svc_password_part(word, &part);

    if (part.len == 0
        || ngx_svc_password_chars(&part, &text) == NGX_ERROR)
    {
        return 0;
    }

    ngx_svc_password_fold(&text);

    if (ngx_svc_password_tokens(password, &text)) {
        return 1;
    }

    if (word->kind != NGX_SVC_PASSWORD_EMAIL) {
        return 0;
    }

    if (ngx_svc_password_chars(&word->text, &text) == NGX_ERROR) {
        return 0;
    }

    ngx_svc_password_fold(&text);

    return ngx_svc_password_whole(password, &text);
}


/* Finds the part of a word that has tokens. */

static void
ngx_svc_password_part(const ngx_svc_password_word_t *word, ngx_str_t *part)
{
    u_char  *p;

    *part = word->text;

    switch (word->kind) {

    case NGX_SVC_PASSWORD_EMAIL:
        p = ngx_strlchr(part->data, part->data + part->len, '@');
        break;

    case NGX_SVC_PASSWORD_DOMAIN:
        p = ngx_strlchr(part->data, part->data + part->len, '.');
        break;

    default:
        return;
    }

    if (p != NULL) {
        part->len = p - part->data;
    }
}


/* Leaves the joined tokens in text. */

static ngx_uint_t
ngx_svc_password_tokens(ngx_svc_password_folded_t *password,
    ngx_svc_password_chars_t *text)
{
    ngx_uint_t  i, start, joined;

    if (ngx_svc_password_whole(password, text)) {
        return 1;
    }

    start = 0;
    joined = 0;

    for (i = 0; i < text->n; i++) {

        if (!ngx_svc_password_is_symbol(text->c[i])) {
            text->c[joined++] = text->c[i];
            continue;
        }

        if (ngx_svc_password_token(password, &text->c[start], joined - start)) {
            return 1;
        }

        start = joined;
    }

    return ngx_svc_password_token(password, &text->c[start], joined - start)
           || ngx_svc_password_token(password, text->c, joined);
}


/* Looks for the whole text, without symbols at its ends. */

static ngx_uint_t
ngx_svc_password_whole(ngx_svc_password_folded_t *password,
    ngx_svc_password_chars_t *text)
{
    ngx_uint_t  start, end;

    start = 0;
    end = text->n;

    while (start < end && ngx_svc_password_is_symbol(text->c[start])) {
        start++;
    }

    while (start < end && ngx_svc_password_is_symbol(text->c[end - 1])) {
        end--;
    }

    return ngx_svc_password_token(password, &text->c[start], end - start);
}


static ngx_uint_t
ngx_svc_password_token(ngx_svc_password_folded_t *password, const wint_t *token,
    ngx_uint_t len)
{
    ngx_uint_t  i;

    if (len < NGX_SVC_PASSWORD_SHORT) {
        return 0;
    }

    if (len < NGX_SVC_PASSWORD_TOKEN) {
        return ngx_svc_password_left(password, token, len);
    }

    for (i = 0; i + len <= password->folded.n; i++) {
        if (ngx_svc_password_at(&password->folded, i, token, len)) {
            return 1;
        }
    }

    return 0;
}


/*
 * Returns 1 when the token is in the password, and too little is left between
 * the ends.
 */

static ngx_uint_t
ngx_svc_password_left(ngx_svc_password_folded_t *password, const wint_t *token,
    ngx_uint_t len)
{
    ngx_uint_t  i, found, left, last;

    found = 0;
    left = 0;
    last = 0;

    for (i = 0; i < password->folded.n; /* void */ ) {

        if (ngx_svc_password_at(&password->folded, i, token, len)) {
            found = 1;
            i += len;
            continue;
        }

        /* left counts from the first letter on; last: up to the last letter */

        if (ngx_svc_password_is_letter(password->raw->c[i])) {
            last = ++left;

        } else if (left) {
            left++;
        }

        i++;
    }

    return found && last < NGX_SVC_PASSWORD_LEFT;
}


static ngx_uint_t
ngx_svc_password_at(const ngx_svc_password_chars_t *text, ngx_uint_t i,
    const wint_t *token, ngx_uint_t len)
{
    wint_t      a, b;
    ngx_uint_t  n;

    if (i + len > text->n) {
        return 0;
    }

    for (n = 0; n < len; n++) {
        a = text->c[i + n];
        b = token[n];

        if (a != b
            && !(a == '1' && (b == 'i' || b == 'l'))
            && !(b == '1' && (a == 'i' || a == 'l')))
        {
            return 0;
        }
    }

    return 1;
}


/* "1" stays: the comparison takes it for an "i" or an "l". */

static void
ngx_svc_password_fold(ngx_svc_password_chars_t *text)
{
    wint_t      *c;
    ngx_uint_t   i;

    for (i = 0; i < text->n; i++) {
        c = &text->c[i];

        switch (*c) {
        case '4': case '@':
            *c = 'a';
            break;
        case '3':
            *c = 'e';
            break;
        case '0':
            *c = 'o';
            break;
        case '5': case '$':
            *c = 's';
            break;
        case '7':
            *c = 't';
            break;
        default:
            *c = ngx_svc_password_lower(*c);
        }
    }
}
