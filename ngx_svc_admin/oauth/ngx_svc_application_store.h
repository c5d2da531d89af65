/*
 * SQL: verdicts on an application that is to be stored, new or changed.
 */

#ifndef _NGX_SVC_APPLICATION_STORE_H_INCLUDED_
#define _NGX_SVC_APPLICATION_STORE_H_INCLUDED_


#include "ngx_svc_application_keys.h"
#include "ngx_svc_application_profile.h"


#define ngx_svc_application_store_verdicts                                    \
    { "grants", NGX_SVC_E_INVALID_VALUE,                                      \
      "\"grantTypes\" has one that this type of application may not have." }, \
    { "method", NGX_SVC_E_INVALID_VALUE,                                      \
      "\"tokenEndpointAuthMethod\" is not one of this type of"                \
      " application." },                                                      \
    ngx_svc_application_profile_verdicts,                                     \
    { "keys", NGX_SVC_E_INVALID_VALUE,                                        \
      "\"jwks\", or \"jwksUri\" in its place, must be there with the"         \
      " \"tokenEndpointAuthMethod\" \"private_key_jwt\", and null with"        \
      " another one." },                                                      \
    { "consent", NGX_SVC_E_INVALID_VALUE,                                     \
      "\"requireConsent\" is false of this type of application." },           \
    { "pkce", NGX_SVC_E_INVALID_VALUE,                                        \
      "\"requirePkce\" may be false of the type \"web\" only." },             \
    { "above", NGX_SVC_E_INVALID_VALUE,                                       \
      "\"idTokenTtlSeconds\", \"refreshIdleDays\" or \"grantDays\" is more"   \
      " than GET /v1/admin/oauth/settings allows." },                         \
    { "redirect", NGX_SVC_E_INVALID_VALUE,                                    \
      "\"redirectUris\" must have one at least with the grant type"           \
      " \"authorization_code\"." },                                           \
    { "no_redirect", NGX_SVC_E_INVALID_VALUE,                                 \
      "\"redirectUris\" must be empty without the grant type"                 \
      " \"authorization_code\"." },                                           \
    { "taken", NGX_SVC_E_CONFLICT,                                            \
      "Another application has this \"resourceUri\"." }


#endif /* _NGX_SVC_APPLICATION_STORE_H_INCLUDED_ */
