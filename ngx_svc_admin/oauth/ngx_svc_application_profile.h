/*
 * The security profile "fapi2" of applications: FAPI 2.0 Security Profile,
 * with private_key_jwt and DPoP.  It fills in members of an application, which
 * may have no other values while it is set.
 */

#ifndef _NGX_SVC_APPLICATION_PROFILE_H_INCLUDED_
#define _NGX_SVC_APPLICATION_PROFILE_H_INCLUDED_


#include "ngx_svc_application.h"


#define NGX_SVC_APPLICATION_OF_PROFILE                                        \
    "with the \"securityProfile\" \"fapi2\"."

#define ngx_svc_application_profile_verdicts                                  \
    { "profile_type", NGX_SVC_E_INVALID_VALUE,                                \
      "\"securityProfile\" is null of this type of application." },           \
    { "profile_method", NGX_SVC_E_INVALID_VALUE,                              \
      "\"tokenEndpointAuthMethod\" is \"private_key_jwt\" "                   \
      NGX_SVC_APPLICATION_OF_PROFILE },                                       \
    { "profile_keys", NGX_SVC_E_INVALID_VALUE,                                \
      "\"jwks\" has no key whose \"alg\" is \"RS256\" "                       \
      NGX_SVC_APPLICATION_OF_PROFILE },                                       \
    { "profile_par", NGX_SVC_E_INVALID_VALUE,                                 \
      "\"requirePar\" is true " NGX_SVC_APPLICATION_OF_PROFILE },             \
    { "profile_dpop", NGX_SVC_E_INVALID_VALUE,                                \
      "\"requireDpop\" is true " NGX_SVC_APPLICATION_OF_PROFILE },            \
    { "profile_pkce", NGX_SVC_E_INVALID_VALUE,                                \
      "\"requirePkce\" is true " NGX_SVC_APPLICATION_OF_PROFILE },            \
    { "profile_alg", NGX_SVC_E_INVALID_VALUE,                                 \
      "\"signingAlg\" is \"ES256\" " NGX_SVC_APPLICATION_OF_PROFILE },        \
    { "profile_redirect", NGX_SVC_E_INVALID_VALUE,                            \
      "\"redirectUris\" begin with \"https\" "                                \
      NGX_SVC_APPLICATION_OF_PROFILE }


/*
 * Checks a PATCH.  It is carried out although its client may leave meanwhile.
 */
ngx_int_t ngx_svc_application_profile_check(ngx_svc_request_t *sr, void *body);

/*
 * Replies to a PATCH.  If the row says by "_profiled" that the profile begins
 * with it, tokens that were issued before are cut off first.
 */
ngx_int_t ngx_svc_application_profile_reply(ngx_svc_request_t *sr);


#endif /* _NGX_SVC_APPLICATION_PROFILE_H_INCLUDED_ */
