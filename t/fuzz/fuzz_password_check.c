/*
 * A new password: any password is accepted, or refused with a reason, and an
 * accepted one does not contain what is known of its owner.
 */

#include "ngx_fuzz.h"
#include "ngx_unit_breached.h"
#include "ngx_svc_password_check.h"
#include "ngx_svc_password_common.h"


#define FUZZ_WORDS  8

/* The bits of the first byte, from the lowest one. */

#define FUZZ_RULE(n)  ((data[0] >> (n)) & 1)


static ngx_int_t fuzz_check(const ngx_str_t *password,
    const ngx_svc_password_policy_t *policy,
    const ngx_svc_password_word_t *words, ngx_uint_t n);
static void fuzz_common(const ngx_str_t *password);
static void fuzz_contextual(const ngx_str_t *password,
    const ngx_svc_password_word_t *words, ngx_uint_t n);


static u_char              *file;
static ngx_svc_breached_t   breached;


void
fuzz_init(void)
{
    const char  *why;

    file = ngx_unit_breached_file(1);
    fuzz_assert(file != NULL);

    ngx_unit_breached_entry(file, 0, 0x5baa61e4c9b93f3fULL);
    fuzz_assert(ngx_svc_breached_init(&breached, file, 72, &why) == NGX_OK);
    fuzz_assert(ngx_svc_password_check_init() == NGX_OK);
}


/*
 * The input: the rules, the minimum length, the password, and words, separated
 * by zeros.
 */

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    u_char                     *p, *end;
    ngx_int_t                   rc;
    ngx_str_t                   text[FUZZ_WORDS + 1];
    ngx_uint_t                  i, n;
    ngx_svc_password_word_t     words[FUZZ_WORDS];
    ngx_svc_password_policy_t   policy;

    if (size < 3) {
        return 0;
    }

    ngx_memzero(&policy, sizeof(ngx_svc_password_policy_t));

    policy.require_lower = FUZZ_RULE(0);
    policy.require_upper = FUZZ_RULE(1);
    policy.require_digit = FUZZ_RULE(2);
    policy.require_symbol = FUZZ_RULE(3);
    policy.reject_contextual = FUZZ_RULE(4);
    policy.reject_breached = FUZZ_RULE(5);
    policy.min_length = data[1] % 129;

    p = (u_char *) data + 2;
    end = (u_char *) data + size;

    for (n = 0; n <= FUZZ_WORDS && p < end; n++, p++) {
        text[n].data = p;

        while (p < end && *p) {
            p++;
        }

        text[n].len = p - text[n].data;
    }

    for (i = 1; i < n; i++) {
        words[i - 1].kind = i % 4;
        words[i - 1].text = text[i];
    }

    if (text[0].len == 0) {
        return 0;
    }

    rc = fuzz_check(&text[0], &policy, words, n - 1);

    if (rc == NGX_OK) {
        fuzz_common(&text[0]);
        fuzz_contextual(&text[0], words, n - 1);
    }

    return 0;
}


/* The answer is the same twice; without rules only the length matters. */

static ngx_int_t
fuzz_check(const ngx_str_t *password, const ngx_svc_password_policy_t *policy,
    const ngx_svc_password_word_t *words, ngx_uint_t n)
{
    ngx_int_t                  rc;
    ngx_svc_password_reason_t  reason, again;

    static const ngx_svc_password_policy_t  none;

    rc = ngx_svc_password_check(password, policy, words, n, &breached, &reason);

    fuzz_assert(rc == NGX_OK || rc == NGX_DECLINED || rc == NGX_ERROR);
    fuzz_assert((reason.len > 0) == (rc == NGX_DECLINED));
    fuzz_assert(reason.len < NGX_SVC_PASSWORD_REASON);
    fuzz_assert(reason.len == 0 || reason.data[reason.len - 1] == '.');

    fuzz_assert(ngx_svc_password_check(password, policy, words, n, &breached,
                                       &again) == rc);
    fuzz_assert(again.len == reason.len);
    fuzz_assert(memcmp(again.data, reason.data, reason.len) == 0);

    if (rc == NGX_OK) {
        fuzz_assert(ngx_svc_password_check(password, &none, words, n, NULL,
                                           &again) == NGX_OK);
    }

    return rc;
}


/* The password in upper case, as far as it is ASCII, is just as common. */

static void
fuzz_common(const ngx_str_t *password)
{
    ngx_uint_t                i, common;
    ngx_svc_password_chars_t  chars;

    fuzz_assert(ngx_svc_password_chars(password, &chars) == NGX_OK);
    common = ngx_svc_password_common(&chars);

    for (i = 0; i < chars.n; i++) {
        if (chars.c[i] < 0x80) {
            chars.c[i] = ngx_toupper(chars.c[i]);
        }
    }

    fuzz_assert(ngx_svc_password_common(&chars) == common);
}


/* With a word of 4 or more letters at its end it is refused. */

static void
fuzz_contextual(const ngx_str_t *password, const ngx_svc_password_word_t *words,
    ngx_uint_t n)
{
    u_char                     *p, text[256];
    ngx_str_t                   longer;
    ngx_uint_t                  i, k;
    ngx_svc_password_reason_t   reason;

    static const ngx_svc_password_policy_t  on = { .reject_contextual = 1 };

    for (i = 0; i < n; i++) {
        const ngx_str_t  *word = &words[i].text;

        for (k = 0; k < word->len && (word->data[k] | 0x20) >= 'a'
                    && (word->data[k] | 0x20) <= 'z'; k++)
        {
            /* void */
        }

        if (k < word->len || k < 4 || password->len + k > sizeof(text)) {
            continue;
        }

        p = ngx_cpymem(text, password->data, password->len);
        p = ngx_cpymem(p, word->data, k);
        longer.data = text;
        longer.len = p - text;

        fuzz_assert(ngx_svc_password_check(&longer, &on, words, n, NULL,
                                           &reason) == NGX_DECLINED);
    }
}
