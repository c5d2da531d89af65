/*
 * The rules of a policy for a new password.
 */

#include "ngx_svc_password_check.h"
#include "ngx_svc_password_common.h"

#include <openssl/crypto.h>


static ngx_int_t ngx_svc_password_length(
    const ngx_svc_password_chars_t *password, ngx_uint_t min,
    ngx_svc_password_reason_t *reason);
static ngx_int_t ngx_svc_password_required(
    const ngx_svc_password_chars_t *password,
    const ngx_svc_password_policy_t *policy,
    ngx_svc_password_reason_t *reason);
static ngx_int_t ngx_svc_password_contextual(
    const ngx_svc_password_chars_t *password,
    const ngx_svc_password_word_t *words, ngx_uint_t n,
    ngx_svc_password_reason_t *reason);
static ngx_int_t ngx_svc_password_breached(
    const ngx_svc_password_chars_t *password, const ngx_str_t *text,
    const ngx_svc_breached_t *breached, ngx_svc_password_reason_t *reason);
static ngx_int_t ngx_svc_password_reject(ngx_svc_password_reason_t *reason,
    const char *fmt, ...);


/* A character that must be there; the table is in the order of the rules. */

typedef struct {
    size_t        offset;           /* in the policy */
    ngx_uint_t  (*is)(wint_t c);
    const char   *reason;
} ngx_svc_password_require_t;


static const ngx_svc_password_require_t  ngx_svc_password_requires[] = {

    { offsetof(ngx_svc_password_policy_t, require_lower),
      ngx_svc_password_is_lower,
      "requireLower: the password must have a lower-case letter in it." },

    { offsetof(ngx_svc_password_policy_t, require_upper),
      ngx_svc_password_is_upper,
      "requireUpper: the password must have an upper-case letter in it." },

    { offsetof(ngx_svc_password_policy_t, require_digit),
      ngx_svc_password_is_digit,
      "requireDigit: the password must have a digit in it, from 0 to 9." },

    { offsetof(ngx_svc_password_policy_t, require_symbol),
      ngx_svc_password_is_symbol,
      "requireSymbol: the password must have a symbol in it, anything but"
      " letters and digits." }
};


/* Indexed by ngx_svc_password_word_e. */

static const char *const  ngx_svc_password_whose[] = {
    "your e-mail address",
    "your name",
    "the name of your organization",
    "a domain of your organization"
};


ngx_int_t
ngx_svc_password_check_conf(void)
{
    return ngx_svc_password_chars_check();
}


ngx_int_t
ngx_svc_password_check_init(void)
{
    return ngx_svc_password_chars_init();
}


void
ngx_svc_password_check_exit(void)
{
    ngx_svc_password_chars_exit();
}


ngx_int_t
ngx_svc_password_check(const ngx_str_t *password,
    const ngx_svc_password_policy_t *policy,
    const ngx_svc_password_word_t *words, ngx_uint_t n,
    const ngx_svc_breached_t *breached, ngx_svc_password_reason_t *reason)
{
    ngx_int_t                 rc;
    ngx_svc_password_chars_t  chars;

    reason->len = 0;

    rc = ngx_svc_password_chars(password, &chars);

    if (rc == NGX_DECLINED) {
        rc = ngx_svc_password_reject(reason,
                                     "maxLength: the password must have at"
                                     " most %d characters.",
                                     NGX_SVC_PASSWORD_CHARS);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_password_length(&chars, policy->min_length, reason);
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_password_required(&chars, policy, reason);
    }

    if (rc == NGX_OK && policy->reject_contextual) {
        rc = ngx_svc_password_contextual(&chars, words, n, reason);
    }

    if (rc == NGX_OK && policy->reject_breached) {
        rc = ngx_svc_password_breached(&chars, password, breached, reason);
    }

    OPENSSL_cleanse(&chars, sizeof(ngx_svc_password_chars_t));

    return rc;
}


static ngx_int_t
ngx_svc_password_length(const ngx_svc_password_chars_t *password,
    ngx_uint_t min, ngx_svc_password_reason_t *reason)
{
    if (password->n >= min) {
        return NGX_OK;
    }

    return ngx_svc_password_reject(reason, "minLength: the password must have"
                                   " at least %ui characters, and has %ui.",
                                   min, password->n);
}


static ngx_int_t
ngx_svc_password_required(const ngx_svc_password_chars_t *password,
    const ngx_svc_password_policy_t *policy, ngx_svc_password_reason_t *reason)
{
    ngx_uint_t                         i, n;
    const ngx_svc_password_require_t  *require;

    for (n = 0; n < sizeof(ngx_svc_password_requires)
                    / sizeof(ngx_svc_password_require_t); n++)
    {
        require = &ngx_svc_password_requires[n];

        if (*(ngx_uint_t *) ((u_char *) policy + require->offset) == 0) {
            continue;
        }

        for (i = 0; i < password->n && !require->is(password->c[i]); i++) {
            /* void */
        }

        if (i == password->n) {
            return ngx_svc_password_reject(reason, "%s", require->reason);
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_password_contextual(const ngx_svc_password_chars_t *password,
    const ngx_svc_password_word_t *words, ngx_uint_t n,
    ngx_svc_password_reason_t *reason)
{
    const ngx_svc_password_word_t  *word;

    word = ngx_svc_password_context(password, words, n);

    if (word == NULL) {
        return NGX_OK;
    }

    return ngx_svc_password_reject(reason, "rejectContextual: the password"
                                   " must not be made of %s: take words that"
                                   " have nothing to do with it.",
                                   ngx_svc_password_whose[word->kind]);
}


static ngx_int_t
ngx_svc_password_breached(const ngx_svc_password_chars_t *password,
    const ngx_str_t *text, const ngx_svc_breached_t *breached,
    ngx_svc_password_reason_t *reason)
{
    if (ngx_svc_password_common(password)) {
        return ngx_svc_password_reject(reason, "rejectBreached: the password"
                                       " must not be a common one, as a known"
                                       " word with digits or symbols, or a row"
                                       " of keys is: take several words that"
                                       " have nothing to do with each other.");
    }

    if (breached != NULL && ngx_svc_breached_password(breached, text)) {
        return ngx_svc_password_reject(reason, "rejectBreached: the password"
                                       " must not be known from a data breach,"
                                       " and this one is: take another one, and"
                                       " change it wherever else you use it.");
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_password_reject(ngx_svc_password_reason_t *reason, const char *fmt,
    ...)
{
    u_char   *last;
    va_list   args;

    va_start(args, fmt);
    last = ngx_vslprintf(reason->data, reason->data + NGX_SVC_PASSWORD_REASON,
                         fmt, args);
    va_end(args);

    reason->len = last - reason->data;

    return NGX_DECLINED;
}
