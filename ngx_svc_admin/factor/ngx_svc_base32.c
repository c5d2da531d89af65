/*
 * Base 32.
 */

#include "ngx_svc_base32.h"


u_char *
ngx_svc_base32(u_char *p, const char *alphabet, const u_char *data, size_t len)
{
    uint32_t    bits;
    ngx_uint_t  n;

    bits = 0;
    n = 0;

    while (len--) {
        bits = (bits << 8 | *data++) & 0xfff;

        for (n += 8; n >= 5; n -= 5) {
            *p++ = alphabet[bits >> (n - 5) & 0x1f];
        }
    }

    if (n) {
        *p++ = alphabet[bits << (5 - n) & 0x1f];
    }

    return p;
}
