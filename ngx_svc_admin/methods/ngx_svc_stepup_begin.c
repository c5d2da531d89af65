/*
 * How the requests of challenges and step-ups begin.
 */

#include "ngx_svc_stepup_begin.h"
#include "ngx_svc_login_refused.h"
#include "ngx_svc_methods.h"


static ngx_int_t ngx_svc_stepup_parts(ngx_svc_stepup_t *step);
static void ngx_svc_stepup_name(ngx_svc_stepup_t *step, ngx_str_t *name);
static const ngx_svc_method_t *ngx_svc_stepup_proving(ngx_svc_stepup_t *step);


ngx_int_t
ngx_svc_stepup_prepare(ngx_svc_request_t *sr)
{
    ngx_int_t               rc;
    ngx_svc_stepup_t       *step;
    ngx_svc_stepup_part_t  *part;

    rc = ngx_svc_route_prepare(sr);
    if (rc != NGX_OK) {
        return rc;
    }

    step = sr->data;

    for (part = step->parts; part->method; part++) {

        if (part->method->stepup->read
            && ngx_svc_route_call(sr, part->method->stepup->read, NULL)
               != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


ngx_svc_stepup_t *
ngx_svc_stepup_create(ngx_svc_request_t *sr, ngx_svc_stepup_body_t *body)
{
    ngx_svc_stepup_t  *step;

    step = (ngx_svc_stepup_t *)
           ngx_svc_factor_create(sr, sizeof(ngx_svc_stepup_t));

    if (step == NULL || ngx_svc_stepup_parts(step) != NGX_OK) {
        return NULL;
    }

    if (body->method.set) {
        ngx_svc_stepup_name(step, &body->method.str);
    }

    return step;
}


static ngx_int_t
ngx_svc_stepup_parts(ngx_svc_stepup_t *step)
{
    ngx_uint_t                      n;
    const ngx_svc_method_t *const  *method;

    n = 1;

    for (method = ngx_svc_methods; *method; method++) {
        n += (*method)->stepup != NULL;
    }

    step->parts = ngx_pcalloc(step->factor.login.sr->request->pool,
                              n * sizeof(ngx_svc_stepup_part_t));
    if (step->parts == NULL) {
        return NGX_ERROR;
    }

    n = 0;

    for (method = ngx_svc_methods; *method; method++) {
        if ((*method)->stepup) {
            step->parts[n++].method = *method;
        }
    }

    return NGX_OK;
}


static void
ngx_svc_stepup_name(ngx_svc_stepup_t *step, ngx_str_t *name)
{
    ngx_svc_stepup_part_t  *part;

    for (part = step->parts; part->method; part++) {

        if (ngx_svc_same(&part->method->name, name)) {
            ngx_svc_stepup_choose(step, part->method);
            step->named = 1;
            return;
        }
    }

    (void) ngx_svc_fail(&step->factor.login.sr->error,
                        NGX_SVC_E_INVALID_VALUE,
                        "\"method\" must be one of the \"methods\" of POST "
                        "/v1/mfa/challenge.");
}


void
ngx_svc_stepup_choose(ngx_svc_stepup_t *step, const ngx_svc_method_t *method)
{
    step->method = method;
    step->factor.method = method->name;
    step->factor.reauth = method->stepup->first;
}


ngx_int_t
ngx_svc_stepup_stage(ngx_svc_stepup_t *step)
{
    ngx_svc_request_t       *sr;
    const ngx_svc_method_t  *method;

    sr = step->factor.login.sr;

    if (step->factor.ended) {
        return step->factor.locked
               ? ngx_svc_login_locked(sr, step->factor.locked)
               : ngx_svc_session_over(sr);
    }

    if (!step->factor.first) {
        return NGX_OK;
    }

    if (!step->factor.unproved) {
        return ngx_svc_session_pending(sr, NGX_SVC_STAGE_ENROLL);
    }

    method = ngx_svc_stepup_proving(step);

    if (method == NULL) {
        return ngx_svc_session_pending(sr, NGX_SVC_STAGE_ENROLL);
    }

    if (step->method == NULL
        || (step->method->stepup->six_digits && !step->named))
    {
        ngx_svc_stepup_choose(step, method);
    }

    return step->method == method ? NGX_OK
           : ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                          "\"method\" must be \"%V\": the address is to be "
                          "shown.", &method->name);
}


/* Returns the method that proves the user's address; NULL: none does. */

static const ngx_svc_method_t *
ngx_svc_stepup_proving(ngx_svc_stepup_t *step)
{
    ngx_svc_stepup_part_t  *part;

    for (part = step->parts;
         part->method && part->method->stepup->prove == NULL;
         part++)
    { /* void */ }

    return part->method;
}
