/*
 * What a test of a connection writes: steps, each with a sentence.
 */

#include "ngx_svc_federation_step.h"


#define NGX_SVC_FEDERATION_SENTENCE  1024   /* bytes */


static const ngx_str_t  ngx_svc_federation_steps[] = {
    [NGX_SVC_FEDERATION_AT_METADATA] = ngx_string("metadata"),
    [NGX_SVC_FEDERATION_AT_AUTHORIZATION] = ngx_string("authorization"),
    [NGX_SVC_FEDERATION_AT_TOKENS] = ngx_string("token"),
    [NGX_SVC_FEDERATION_AT_ID_TOKEN] = ngx_string("id_token"),
    [NGX_SVC_FEDERATION_AT_CLAIMS] = ngx_string("claims"),
    [NGX_SVC_FEDERATION_AT_MAPPING] = ngx_string("mapping"),
    [NGX_SVC_FEDERATION_AT_ROW] = ngx_string("user"),
    [NGX_SVC_FEDERATION_AT_FACTOR] = ngx_string("second_factor")
};


void
ngx_svc_federation_step(ngx_svc_federation_explain_t *e,
    ngx_svc_federation_step_e step, ngx_uint_t ok, const char *fmt, ...)
{
    u_char           *p, sentence[NGX_SVC_FEDERATION_SENTENCE];
    va_list           args;
    const ngx_str_t  *name;

    va_start(args, fmt);
    p = ngx_vslprintf(sentence, sentence + sizeof(sentence), fmt, args);
    va_end(args);

    name = &ngx_svc_federation_steps[step];

    ngx_svc_json_open(&e->w, NULL, '{');
    ngx_svc_json_plain(&e->w, "step", name->data, name->len);
    ngx_svc_json_boolean(&e->w, "ok", ok);
    ngx_svc_json_string(&e->w, "detail", sentence, p - sentence);
    ngx_svc_json_close(&e->w, '}');
}
