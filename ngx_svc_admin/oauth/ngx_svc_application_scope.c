/*
 * Scopes of applications.
 */

#include "ngx_svc_application_scope.h"


ngx_uint_t
ngx_svc_application_scope(const ngx_str_t *text)
{
    u_char  c;
    size_t  i;

    for (i = 0; i < text->len; i++) {
        c = text->data[i];

        if (c <= ' ' || c >= 0x7f || c == '"' || c == '\\') {
            return 0;
        }
    }

    return text->len > 0 && text->len <= NGX_SVC_APPLICATION_SCOPE;
}
