/*
 * SQL: what is wrong with an application that is to be stored, whether it is a
 * new one or one that is changed.
 */

#ifndef _NGX_SVC_APPLICATION_STORE_H_INCLUDED_
#define _NGX_SVC_APPLICATION_STORE_H_INCLUDED_


#include "ngx_svc_application_keys.h"
#include "ngx_svc_application_profile.h"


/*
 * Of a row n, which is to be stored: what is wrong with it for its type.
 * grants, method: the types that the body would do for.
 */

#define NGX_SVC_APPLICATION_STORE_WRONG(grants, method)                       \
    " WHEN NOT n.type = ANY (" grants "::text::text[]) THEN 'grants'"         \
    " WHEN NOT n.type = ANY (" method "::text::text[]) THEN 'method'"         \
    NGX_SVC_APPLICATION_PROFILE_WRONG                                         \
    " WHEN (n.auth_method = '" NGX_SVC_APPLICATION_BY_KEYS "')"               \
        " <> (n.jwks IS NOT NULL) THEN 'keys'"                                \
    " WHEN n.type = 'm2m' AND n.require_consent THEN 'consent'"               \
    " WHEN n.type <> 'web' AND NOT n.require_pkce THEN 'pkce'"                \
    " WHEN EXISTS (SELECT FROM svc.oauth_tenant g"                            \
        " WHERE g.tenant_id = " NGX_SVC_TENANT " AND "                        \
            NGX_SVC_APPLICATION_ABOVE("n", "g") ") THEN 'above'"              \
    " WHEN 'authorization_code' = ANY (n.grant_types)"                        \
        " AND cardinality(n.redirect_uris) = 0 THEN 'redirect'"               \
    " WHEN NOT 'authorization_code' = ANY (n.grant_types)"                    \
        " AND cardinality(n.redirect_uris) > 0 THEN 'no_redirect'"

/* Another one has the resource of this key; for the caller to close. */

#define NGX_SVC_APPLICATION_STORE_TAKEN(key)                                  \
    "EXISTS (SELECT FROM svc.application k"                                   \
        " WHERE k.tenant_id = " NGX_SVC_TENANT " AND k.resource_key = " key

#define ngx_svc_application_store_verdicts                                    \
    { "grants", NGX_SVC_E_INVALID_VALUE,                                      \
      "\"grantTypes\" has one that this type of application may not have." }, \
    { "method", NGX_SVC_E_INVALID_VALUE,                                      \
      "\"tokenEndpointAuthMethod\" is not one of this type of"                \
      " application." },                                                      \
    ngx_svc_application_profile_verdicts,                                     \
    { "keys", NGX_SVC_E_INVALID_VALUE,                                        \
      "\"jwks\" must be there with the \"tokenEndpointAuthMethod\""           \
      " \"private_key_jwt\", and null with another one." },                   \
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


/*
 * A body's members of OpenID Connect, NULL where it lacks them.  JSON may have
 * an integer as 6e1.
 */

#define NGX_SVC_APPLICATION_STORE_OPENID(body)                                \
    "jsonb_to_record(" body "::text::jsonb) AS b ("                           \
        "\"signingAlg\" text, \"requirePkce\" boolean,"                       \
        " \"requireAcr\" boolean, \"unknownScopes\" text,"                    \
        " \"refreshTokens\" text, \"idTokenClaims\" text[],"                  \
        " \"groupsClaim\" text, \"idTokenTtlSeconds\" numeric,"               \
        " \"refreshIdleDays\" numeric, \"grantDays\" numeric,"                \
        " \"postLogoutRedirectUris\" text[], \"backchannelLogoutUri\" text,"  \
        " \"backchannelLogoutSessionRequired\" boolean,"                      \
        " \"tokenEndpointAuthMethod\" text, jwks jsonb,"                      \
        " \"requirePar\" boolean, \"securityProfile\" text)"


#endif /* _NGX_SVC_APPLICATION_STORE_H_INCLUDED_ */
