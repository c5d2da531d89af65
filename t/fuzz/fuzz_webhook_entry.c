/*
 * Texts in Redis in place of a delivery: they are refused, or, when they are
 * signed, written again byte by byte.
 */

#include "ngx_fuzz.h"
#include "ngx_svc_webhook_entry.h"


static ngx_svc_keys_t  keys = { .n = 1, .keys = { { .id = "k", .id_len = 1 } } };
static ngx_svc_macs_t  macs;


void
fuzz_init(void)
{
    fuzz_assert(ngx_svc_webhook_entry_init(&keys) == NGX_OK);
    fuzz_assert(ngx_svc_mac_init(&macs, &keys, NGX_SVC_WEBHOOK_ENTRY_LABEL)
                == NGX_OK);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    u_char                      *text, *end, *entry, *p;
    u_char                       mac[NGX_SVC_MAC_LEN];
    size_t                       len;
    ngx_int_t                    rc;
    ngx_svc_webhook_delivery_t  *d;

    rc = ngx_svc_webhook_entry_read(data, size, ngx_env_log(), &d);
    fuzz_assert(rc == NGX_DECLINED || rc == NGX_ABORT);

    len = 2 + 2 * NGX_SVC_MAC_LEN + 1 + size;
    entry = malloc(len);
    text = malloc(len);
    fuzz_assert(entry != NULL && text != NULL);

    fuzz_assert(ngx_svc_mac(&macs.keys[0], data, size, mac) == NGX_OK);
    entry[0] = 'k';
    entry[1] = ':';
    p = ngx_hex_dump(entry + 2, mac, NGX_SVC_MAC_LEN);
    *p++ = ' ';
    memcpy(p, data, size);

    rc = ngx_svc_webhook_entry_read(entry, len, ngx_env_log(), &d);
    fuzz_assert(rc == NGX_OK || rc == NGX_DECLINED);

    if (rc == NGX_OK) {
        fuzz_assert(ngx_svc_webhook_entry_len(d) == len);

        end = ngx_svc_webhook_entry_write(text, d);

        fuzz_assert(end == text + len);
        fuzz_assert(memcmp(text, entry, len) == 0);

        ngx_free(d);
    }

    free(text);
    free(entry);

    return 0;
}
