/*
 * What a worker knows of directories: connections that can be used again, and
 * how they have answered of late.
 */

#ifndef _NGX_SVC_LDAP_KEPT_H_INCLUDED_
#define _NGX_SVC_LDAP_KEPT_H_INCLUDED_


#include "ngx_svc_ldap_job.h"


typedef struct ngx_svc_ldap_known_s  ngx_svc_ldap_known_t;


/*
 * Returns what is known of a directory, which the caller holds until
 * ngx_svc_ldap_let(); of another version nothing is.  Returns NULL when there
 * is no memory.
 */
ngx_svc_ldap_known_t *ngx_svc_ldap_hold(
    const ngx_svc_ldap_directory_t *directory);

void ngx_svc_ldap_let(ngx_svc_ldap_known_t *known);

/* Returns 1 while a directory that was late three times is not to be asked. */
ngx_uint_t ngx_svc_ldap_resting(const ngx_svc_ldap_known_t *known);

/* Returns a connection, which becomes the caller's; NULL: there is none. */
ngx_svc_ldap_conn_t *ngx_svc_ldap_take_kept(ngx_svc_ldap_known_t *known);

/* Keeps a connection that is as good as new, or closes it. */
void ngx_svc_ldap_keep(ngx_svc_ldap_known_t *known, ngx_svc_ldap_conn_t *conn);

/* Notes whether the directory was late. */
void ngx_svc_ldap_note(ngx_svc_ldap_known_t *known, ngx_uint_t late);

/* Notes how long a complete sign-in has taken. */
void ngx_svc_ldap_took(ngx_svc_ldap_known_t *known, ngx_msec_t ms);

/* Counts a sign-in by the directory that is complete, for others' "usual". */
void ngx_svc_ldap_complete(const ngx_svc_ldap_directory_t *directory,
    ngx_msec_t ms);

/* Returns what they take, about; 0: it is not known. */
ngx_msec_t ngx_svc_ldap_usual(const ngx_svc_ldap_known_t *known);

/* Closes all connections. */
void ngx_svc_ldap_drop_all(void);


#endif /* _NGX_SVC_LDAP_KEPT_H_INCLUDED_ */
