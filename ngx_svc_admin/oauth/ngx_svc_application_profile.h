/*
 * The security profile of applications, "fapi2": FAPI 2.0 Security Profile,
 * with private_key_jwt and DPoP.  It fills members, and freezes them.
 */

#ifndef _NGX_SVC_APPLICATION_PROFILE_H_INCLUDED_
#define _NGX_SVC_APPLICATION_PROFILE_H_INCLUDED_


#include "ngx_svc_application.h"


/*
 * SQL: a member's value, unless the body b has that: the profile's, as a
 * literal, when the body has one, or what it is otherwise.
 */

#define NGX_SVC_APPLICATION_PROFILED(profiled, otherwise)                     \
    "CASE WHEN b.\"securityProfile\" IS NOT NULL THEN " profiled              \
        " ELSE " otherwise " END"

/*
 * SQL: of a row n, which is to be stored: what the profile does not let be.
 * Security Profile, 5.3.2.1-3: there are confidential clients only; 5.3.2.2-8:
 * no response is sent in the clear; 5.4.1: no RS256.
 */

#define NGX_SVC_APPLICATION_PROFILE_NOT(is, verdict)                          \
    " WHEN n.security_profile IS NOT NULL AND NOT (" is ")"                   \
        " THEN '" verdict "'"

#define NGX_SVC_APPLICATION_PROFILE_WRONG                                     \
    NGX_SVC_APPLICATION_PROFILE_NOT("n.type IN ('web', 'm2m', 'agent')",      \
                                    "profile_type")                           \
    NGX_SVC_APPLICATION_PROFILE_NOT(                                          \
        "n.auth_method = '" NGX_SVC_APPLICATION_BY_KEYS "'",                  \
        "profile_method")                                                     \
    NGX_SVC_APPLICATION_PROFILE_NOT("n.require_par", "profile_par")           \
    NGX_SVC_APPLICATION_PROFILE_NOT("n.require_dpop", "profile_dpop")         \
    NGX_SVC_APPLICATION_PROFILE_NOT("n.require_pkce", "profile_pkce")         \
    NGX_SVC_APPLICATION_PROFILE_NOT("n.signing_alg = 'ES256'", "profile_alg") \
    NGX_SVC_APPLICATION_PROFILE_NOT(                                          \
        "coalesce(n.jwks @@ '$.keys[*].alg == \"RS256\"', false) = false",    \
        "profile_keys")                                                       \
    NGX_SVC_APPLICATION_PROFILE_NOT(                                          \
        "NOT EXISTS (SELECT FROM unnest(n.redirect_uris) u"                   \
            " WHERE u NOT LIKE 'https:%')",                                   \
        "profile_redirect")

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
 * SQL: from a to n, when a gets the profile: what it was given until then, it
 * may not have been given so.  And whether that is so, of o and u.
 */

#define NGX_SVC_APPLICATION_PROFILE_CUT_OFF(otherwise)                        \
    "CASE WHEN a.security_profile IS NULL"                                    \
            " AND n.security_profile IS NOT NULL"                             \
        " THEN greatest(a.tokens_valid_after, clock_timestamp())"             \
        " ELSE " otherwise " END"

#define NGX_SVC_APPLICATION_PROFILE_BEGINS                                    \
    "EXISTS (SELECT FROM u, o WHERE o.security_profile IS NULL"               \
        " AND u.security_profile IS NOT NULL)"

/* A PATCH's check; and its reply, whose row has _PROFILE_BEGINS as "_profiled". */
ngx_int_t ngx_svc_application_profile_check(ngx_svc_request_t *sr, void *body);
ngx_int_t ngx_svc_application_profile_reply(ngx_svc_request_t *sr);


#endif /* _NGX_SVC_APPLICATION_PROFILE_H_INCLUDED_ */
