/*
 * E-mail addresses, the sign-in identifiers.
 */

#ifndef _NGX_SVC_EMAIL_H_INCLUDED_
#define _NGX_SVC_EMAIL_H_INCLUDED_


#include "ngx_svc_schema.h"


#define NGX_SVC_EMAIL_MAX  254      /* bytes */


/* The check of a row (ngx_svc_check_pt): a string of valid UTF-8. */
NGX_SVC_API ngx_int_t ngx_svc_email_check(const ngx_svc_member_t *member,
    ngx_svc_value_t *value, const char *path, ngx_svc_error_t *err);


#endif /* _NGX_SVC_EMAIL_H_INCLUDED_ */
