/*
 * What a test of a connection writes: steps, each with a sentence.
 */

#ifndef _NGX_SVC_FEDERATION_STEP_H_INCLUDED_
#define _NGX_SVC_FEDERATION_STEP_H_INCLUDED_


#include "ngx_svc_federation_match.h"
#include "ngx_svc_federation_match.row.h"
#include "ngx_svc_federation_test.row.h"
#include "ngx_svc_json_write.h"


/* What was read of whom the proof is of. */

typedef struct {
    ngx_svc_row_federation_match_t       match;
    ngx_svc_row_federation_test_found_t  settings;
    ngx_uint_t                 barred;      /* 1: nobody comes in from here */
} ngx_svc_federation_found_t;

typedef struct {
    ngx_svc_federation_flow_t           *flow;
    const ngx_svc_federation_found_t    *found;     /* NULL: a step has
                                                       failed */
    ngx_uint_t                           hidden;    /* 1: what came is not
                                                       shown */
    ngx_svc_json_writer_t                w;
} ngx_svc_federation_explain_t;


/* Writes a step; fmt is that of ngx_sprintf(). */
void ngx_svc_federation_step(ngx_svc_federation_explain_t *e,
    ngx_svc_federation_step_e step, ngx_uint_t ok, const char *fmt, ...);


#endif /* _NGX_SVC_FEDERATION_STEP_H_INCLUDED_ */
