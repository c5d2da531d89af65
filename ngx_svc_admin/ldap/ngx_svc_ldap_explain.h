/*
 * What is wrong with a certificate, in a sentence.
 */

#ifndef _NGX_SVC_LDAP_EXPLAIN_H_INCLUDED_
#define _NGX_SVC_LDAP_EXPLAIN_H_INCLUDED_


#include "ngx_svc_common.h"

#include <lber.h>


#define NGX_SVC_LDAP_FAULT  400         /* bytes of the sentence */


/*
 * Writes why the certificate is not accepted for a host, a name or an address,
 * as a C string.  Its issuer is not looked for: if nothing else is wrong, it is
 * that.
 */
void ngx_svc_ldap_certificate_fault(const struct berval *der, const char *host,
    u_char *fault);


#endif /* _NGX_SVC_LDAP_EXPLAIN_H_INCLUDED_ */
