/*
 * Identity providers that we know by name, and any other that speaks OpenID
 * Connect: where they are, and what is peculiar to them.
 */

#ifndef _NGX_SVC_PROVIDER_H_INCLUDED_
#define _NGX_SVC_PROVIDER_H_INCLUDED_


#include "ngx_svc_id_token.h"
#include "ngx_svc_oidc_metadata.h"


typedef struct ngx_svc_provider_s  ngx_svc_provider_t;

/* What a tenant has set for a provider. */

typedef struct {
    const ngx_svc_provider_t  *provider;
    ngx_str_t                  issuer;      /* no data: the provider's own */
    ngx_str_t                  tenant_id;   /* for Microsoft: a UUID in lower
                                               case, "organizations" or
                                               "common" */
    const ngx_str_t           *tids;        /* for Microsoft, unless tenant_id
                                               is a UUID: allowedTenants */
    ngx_uint_t                 ntids;
    const ngx_str_t           *domains;     /* those that the tenant owns now,
                                               as ngx_svc_domain_parse() */
    ngx_uint_t                 ndomains;
    unsigned                   trust_email:1;
} ngx_svc_provider_settings_t;

/* When a provider vouches for the address of a person. */

typedef enum {
    NGX_SVC_PROVIDER_NEVER = 0,
    NGX_SVC_PROVIDER_CLAIMED,       /* "email_verified" is true */
    NGX_SVC_PROVIDER_GOOGLE,        /* the same, and the mailbox is its own */
    NGX_SVC_PROVIDER_MICROSOFT,     /* "xms_edov", or one tenant's domain */
    NGX_SVC_PROVIDER_TRUSTED        /* "email_verified", or trust_email */
} ngx_svc_provider_vouch_e;

struct ngx_svc_provider_s {
    ngx_str_t       name;
    ngx_str_t       issuer;         /* no data: that of the settings */
    ngx_str_t       issuer_too;     /* another spelling in its ID tokens; no
                                       data: none */
    ngx_str_t       scope;

    /* no data: the metadata says them */

    ngx_str_t       authorization_endpoint;
    ngx_str_t       token_endpoint;
    ngx_str_t       jwks_uri;
    ngx_str_t       user_endpoint;      /* of GitHub, in place of an ID token */
    ngx_str_t       emails_endpoint;    /* of GitHub */

    ngx_str_t       again;          /* "prompt" that has people sign in once
                                       more, or choose who they are; no data:
                                       there is none */

    ngx_svc_provider_vouch_e  vouch;

    unsigned        oauth:1;        /* no ID token; each call of an API needs a
                                       User-Agent, the one for the token
                                       "Accept: application/json" */
    unsigned        many:1;         /* "oidc-acme" is the same as "oidc" */
    unsigned        own_issuer:1;   /* settings.issuer may be set */
    unsigned        no_pkce:1;      /* it refuses code_verifier */
    unsigned        no_nonce:1;     /* its ID tokens have no nonce */
    unsigned        post:1;         /* client_secret_post, whatever the
                                       metadata says */
    unsigned        form_post:1;    /* response_mode=form_post */
    unsigned        apple:1;        /* the secret is made for each call */
    unsigned        tenant:1;       /* Microsoft's rules for iss and tid */
    unsigned        dates:1;        /* it takes max_age and acr_values */
};

/*
 * Returns the provider with that name in the API, "oidc" for "oidc-acme"; NULL:
 * there is none.
 */
const ngx_svc_provider_t *ngx_svc_provider(const ngx_str_t *name);

/* Returns 1 if the people of one of Microsoft's tenants alone may come. */
ngx_uint_t ngx_svc_provider_one_tenant(
    const ngx_svc_provider_settings_t *settings);

/*
 * Makes the URL of the metadata, and what their "issuer" must be.  Returns
 * NGX_OK; NGX_DECLINED with *issuer when the provider has none, so that its
 * endpoints are those above; NGX_ERROR when memory runs out.
 */
ngx_int_t ngx_svc_provider_discovery(ngx_pool_t *pool,
    const ngx_svc_provider_settings_t *settings, ngx_str_t *url,
    ngx_str_t *issuer);

/*
 * Says what is known of a provider without metadata.  Returns NGX_OK, or
 * NGX_DECLINED when it has metadata.
 */
ngx_int_t ngx_svc_provider_metadata(const ngx_svc_provider_t *provider,
    ngx_svc_oidc_metadata_t *m);

/*
 * Sets what the settings say of an expected token: issuer, issuer_too, tids,
 * ntids, tenant and no_nonce.  They point to the settings.
 */
void ngx_svc_provider_expect(const ngx_svc_provider_settings_t *settings,
    ngx_svc_id_token_expected_t *expected);


#endif /* _NGX_SVC_PROVIDER_H_INCLUDED_ */
