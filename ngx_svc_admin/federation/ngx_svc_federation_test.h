/*
 * The test of a connection: a flow that goes to the provider and back as any
 * other does, and ends with what was found.  It makes nothing.
 */

#ifndef _NGX_SVC_FEDERATION_TEST_H_INCLUDED_
#define _NGX_SVC_FEDERATION_TEST_H_INCLUDED_


#include "ngx_svc_federation_flow.h"


/*
 * For a reply, or from an event, with flow->proof: reads what a sign-in would
 * read, keeps what would come of it, and leads the browser to a page that shows
 * it.  Returns what goes to ngx_http_finalize_request().
 */
ngx_int_t ngx_svc_federation_test_read(ngx_svc_federation_flow_t *flow);

/*
 * The same where it has come no further than flow->step: sr->error is set, and
 * flow->why if there is more to say.
 */
ngx_int_t ngx_svc_federation_test_failed(ngx_svc_federation_flow_t *flow);


#endif /* _NGX_SVC_FEDERATION_TEST_H_INCLUDED_ */
