/*
 * Times as text.
 */

#include "ngx_svc_time.h"


#define NGX_SVC_TIME_SECONDS  (sizeof("2026-11-21 09:15:30") - 1)


u_char *
ngx_svc_time_text(u_char *p, const ngx_str_t *pg)
{
    size_t      i;
    ngx_uint_t  fraction;

    if (pg->len < NGX_SVC_TIME_SECONDS) {
        return ngx_cpymem(p, "0000-00-00T00:00:00.000Z", NGX_SVC_TIME_LEN);
    }

    p = ngx_cpymem(p, pg->data, NGX_SVC_TIME_SECONDS);
    p[10 - (ngx_int_t) NGX_SVC_TIME_SECONDS] = 'T';

    *p++ = '.';

    /* PostgreSQL drops zeros at the end */

    i = NGX_SVC_TIME_SECONDS;
    fraction = i < pg->len && pg->data[i] == '.';

    for (i++; i < NGX_SVC_TIME_SECONDS + 4; i++) {

        if (fraction && (i == pg->len || pg->data[i] < '0'
                         || pg->data[i] > '9'))
        {
            fraction = 0;
        }

        *p++ = fraction ? pg->data[i] : '0';
    }

    *p++ = 'Z';

    return p;
}
