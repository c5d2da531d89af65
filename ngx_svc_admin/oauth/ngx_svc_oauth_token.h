/*
 * POST /oauth/token: what its grant types share.
 */

#ifndef _NGX_SVC_OAUTH_TOKEN_H_INCLUDED_
#define _NGX_SVC_OAUTH_TOKEN_H_INCLUDED_


#include "ngx_svc_oauth_issue.h"


/* Each grant type is in the file of its name. */

extern const ngx_svc_oauth_grant_t  ngx_svc_oauth_client_credentials;
extern const ngx_svc_oauth_grant_t  ngx_svc_oauth_exchange;
extern const ngx_svc_oauth_grant_t  ngx_svc_oauth_code;
extern const ngx_svc_oauth_grant_t  ngx_svc_oauth_refresh;


#endif /* _NGX_SVC_OAUTH_TOKEN_H_INCLUDED_ */
