/*
 * How the requests of challenges and step-ups begin.
 */

#ifndef _NGX_SVC_STEPUP_BEGIN_H_INCLUDED_
#define _NGX_SVC_STEPUP_BEGIN_H_INCLUDED_


#include "ngx_svc_method.h"


#define ngx_svc_stepup_method_member                                          \
    { .name = ngx_string("method"),                                           \
      .type = NGX_SVC_T_STRING,                                               \
      .min = 1,                                                               \
      .max = 16,                                                              \
      .offset = offsetof(ngx_svc_stepup_body_t, method) }


/* The prepare of their routes: each method adds what it reads. */
ngx_int_t ngx_svc_stepup_prepare(ngx_svc_request_t *sr);

/*
 * For the check of a body: makes sr->data with the methods that there are, and
 * takes "method", or sets sr->error.  Returns NULL when memory runs out.
 */
ngx_svc_stepup_t *ngx_svc_stepup_create(ngx_svc_request_t *sr,
    ngx_svc_stepup_body_t *body);

/* It is that method from now on. */
void ngx_svc_stepup_choose(ngx_svc_stepup_t *step,
    const ngx_svc_method_t *method);

/*
 * Tells whether the session may do this at its stage; one that waits for its
 * first factor can prove its address alone.  Returns NGX_OK, or NGX_DECLINED
 * with sr->error set.
 */
ngx_int_t ngx_svc_stepup_stage(ngx_svc_stepup_t *step);


#endif /* _NGX_SVC_STEPUP_BEGIN_H_INCLUDED_ */
