/*
 * A passkey.
 */

#include "ngx_svc_passkey.h"
#include "ngx_svc_base64.h"


typedef struct {
    ngx_str_t   word;
    ngx_uint_t  bit;
} ngx_svc_passkey_transport_t;


static const ngx_svc_passkey_transport_t  ngx_svc_passkey_words[] = {
    { ngx_string("usb"), NGX_SVC_PASSKEY_USB },
    { ngx_string("nfc"), NGX_SVC_PASSKEY_NFC },
    { ngx_string("ble"), NGX_SVC_PASSKEY_BLE },
    { ngx_string("smart-card"), NGX_SVC_PASSKEY_SMART_CARD },
    { ngx_string("hybrid"), NGX_SVC_PASSKEY_HYBRID },
    { ngx_string("internal"), NGX_SVC_PASSKEY_INTERNAL },
    { ngx_null_string, 0 }
};


ngx_uint_t
ngx_svc_passkey_transports(const cJSON *words)
{
    ngx_uint_t                          bits;
    const cJSON                        *json;
    const ngx_svc_passkey_transport_t  *t;

    bits = 0;

    cJSON_ArrayForEach(json, words) {

        for (t = ngx_svc_passkey_words; t->bit; t++) {
            if (cJSON_IsString(json)
                && ngx_strcmp(json->valuestring, t->word.data) == 0)
            {
                bits |= t->bit;
            }
        }
    }

    return bits;
}


void
ngx_svc_passkey_descriptor(ngx_svc_json_writer_t *w,
    const ngx_svc_passkey_t *passkey)
{
    u_char                              id[ngx_svc_base64url_len(
                                                  NGX_SVC_PASSKEY_ID_MAX)];
    u_char                             *end;
    const ngx_svc_passkey_transport_t  *t;

    end = ngx_svc_base64url(id, passkey->id.data,
                            ngx_min(passkey->id.len, NGX_SVC_PASSKEY_ID_MAX));

    ngx_svc_json_open(w, NULL, '{');
    ngx_svc_json_plain(w, "type", (u_char *) "public-key",
                       sizeof("public-key") - 1);
    ngx_svc_json_plain(w, "id", id, end - id);
    ngx_svc_json_open(w, "transports", '[');

    for (t = ngx_svc_passkey_words; t->bit; t++) {
        if (passkey->transports & t->bit) {
            ngx_svc_json_plain(w, NULL, t->word.data, t->word.len);
        }
    }

    ngx_svc_json_close(w, ']');
    ngx_svc_json_close(w, '}');
}
