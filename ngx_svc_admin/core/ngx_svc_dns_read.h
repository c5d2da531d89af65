/*
 * What DNS has answered, into a look-up.
 */

#ifndef _NGX_SVC_DNS_READ_H_INCLUDED_
#define _NGX_SVC_DNS_READ_H_INCLUDED_


#include "ngx_svc_dns.h"

/* ares_query() and the parsers of its answer are in all versions, also 1.18 */
#define CARES_NO_DEPRECATED
#include <ares.h>


#define NGX_SVC_DNS_TYPES  2            /* types of a look-up, at most */


/* Adds the records of an answer.  Each returns a status of c-ares. */

int ngx_svc_dns_read_txt(ngx_svc_dns_t *dns, const unsigned char *abuf,
    int alen);
int ngx_svc_dns_read_a(ngx_svc_dns_t *dns, const unsigned char *abuf, int alen);
int ngx_svc_dns_read_aaaa(ngx_svc_dns_t *dns, const unsigned char *abuf,
    int alen);


#endif /* _NGX_SVC_DNS_READ_H_INCLUDED_ */
