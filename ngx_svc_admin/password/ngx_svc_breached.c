/*
 * Passwords of data breaches: the file's format, and look-ups.
 */

#include "ngx_svc_breached.h"

#include <ngx_sha1.h>
#include <openssl/crypto.h>


#define NGX_SVC_BREACHED_MAGIC    "svcsha1\n"
#define NGX_SVC_BREACHED_VERSION  1

#define NGX_SVC_SHA1_LEN          20

/*
 * Hashes are uniform: among 10^9 of them the third guess is on the right page.
 * Entries that are not, as in a file that somebody has made up, are bisected.
 */
#define NGX_SVC_BREACHED_GUESSES  8


static uint64_t ngx_svc_breached_number(const u_char *p, ngx_uint_t bytes);


ngx_int_t
ngx_svc_breached_init(ngx_svc_breached_t *breached, const u_char *file,
    uint64_t size, const char **why)
{
    uint64_t  n;

    if (size < NGX_SVC_BREACHED_HEADER
        || ngx_memcmp(file, NGX_SVC_BREACHED_MAGIC,
                      sizeof(NGX_SVC_BREACHED_MAGIC) - 1) != 0)
    {
        *why = "is no file of breached passwords";
        return NGX_DECLINED;
    }

    if (ngx_svc_breached_number(file + 8, 4) != NGX_SVC_BREACHED_VERSION
        || ngx_svc_breached_number(file + 12, 4) != NGX_SVC_BREACHED_ENTRY)
    {
        *why = "has a format of another version";
        return NGX_DECLINED;
    }

    n = ngx_svc_breached_number(file + 16, 8);
    size -= NGX_SVC_BREACHED_HEADER;

    if (size % NGX_SVC_BREACHED_ENTRY || size / NGX_SVC_BREACHED_ENTRY != n) {
        *why = (size / NGX_SVC_BREACHED_ENTRY < n)
               ? "has been cut off: it has less than its header says"
               : "has more in it than its header says";
        return NGX_DECLINED;
    }

    breached->entries = file + NGX_SVC_BREACHED_HEADER;
    breached->n = n;

    return NGX_OK;
}


ngx_uint_t
ngx_svc_breached_password(const ngx_svc_breached_t *breached,
    const ngx_str_t *password)
{
    u_char      hash[NGX_SVC_SHA1_LEN];
    ngx_sha1_t  sha1;

    ngx_sha1_init(&sha1);
    ngx_sha1_update(&sha1, password->data, password->len);
    ngx_sha1_final(hash, &sha1);

    OPENSSL_cleanse(&sha1, sizeof(ngx_sha1_t));

    return ngx_svc_breached_find(breached, ngx_svc_breached_number(hash, 8));
}


/*
 * The entry is among those from lo on and before hi, whose values are from low
 * to high.
 */

ngx_uint_t
ngx_svc_breached_find(const ngx_svc_breached_t *breached, uint64_t prefix)
{
    double      part;
    uint64_t    lo, hi, mid, low, high, entry;
    ngx_uint_t  guesses;

    lo = 0;
    hi = breached->n;
    low = 0;
    high = UINT64_MAX;

    for (guesses = 0; lo < hi; guesses++) {

        mid = lo + (hi - lo) / 2;

        if (guesses < NGX_SVC_BREACHED_GUESSES) {
            part = (double) (prefix - low) / ((double) (high - low) + 1);
            mid = ngx_min(lo + (uint64_t) (part * (double) (hi - lo)), hi - 1);
        }

        entry = ngx_svc_breached_number(breached->entries
                                        + mid * NGX_SVC_BREACHED_ENTRY,
                                        NGX_SVC_BREACHED_ENTRY);
        if (entry == prefix) {
            return 1;
        }

        if (entry < prefix) {
            lo = mid + 1;
            low = entry + 1;

        } else {
            hi = mid;
            high = entry - 1;
        }
    }

    return 0;
}


static uint64_t
ngx_svc_breached_number(const u_char *p, ngx_uint_t bytes)
{
    uint64_t  n;

    for (n = 0; bytes; bytes--) {
        n = n << 8 | *p++;
    }

    return n;
}
