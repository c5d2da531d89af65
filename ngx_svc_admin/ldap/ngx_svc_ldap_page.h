/*
 * Pages of the people that a directory has.
 */

#ifndef _NGX_SVC_LDAP_PAGE_H_INCLUDED_
#define _NGX_SVC_LDAP_PAGE_H_INCLUDED_


#include "ngx_svc_ldap_job.h"


/*
 * In a thread: reads the page behind job->in.cookie, or the first one, of the
 * entries that fit the filter (RFC 2696).  It connects unless it is the same
 * connection: a cookie is good on that alone.  The answer is in job->out.
 */
void ngx_svc_ldap_page(ngx_svc_ldap_job_t *job);

/*
 * In the event loop: closes the connection that a page has left; the pages may
 * be at their end.
 */
void ngx_svc_ldap_page_close(ngx_svc_ldap_page_t *page);


#endif /* _NGX_SVC_LDAP_PAGE_H_INCLUDED_ */
