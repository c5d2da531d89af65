/*
 * What a test of a connection has found, step by step.
 */

#include "ngx_svc_federation_explain.h"
#include "ngx_svc_federation_ask.h"
#include "ngx_svc_federation_explain_claims.h"
#include "ngx_svc_federation_explain_row.h"
#include "ngx_svc_sealed.h"


#define NGX_SVC_FEDERATION_LACKS  256     /* bytes of attributes' names */


typedef void (*ngx_svc_federation_explain_pt)(ngx_svc_federation_explain_t *e);


static void ngx_svc_federation_explain_metadata(
    ngx_svc_federation_explain_t *e);
static void ngx_svc_federation_explain_authorization(
    ngx_svc_federation_explain_t *e);
static void ngx_svc_federation_explain_tokens(ngx_svc_federation_explain_t *e);
static void ngx_svc_federation_explain_id_token(
    ngx_svc_federation_explain_t *e);
static void ngx_svc_federation_explain_came(ngx_svc_federation_explain_t *e);
static void ngx_svc_federation_explain_mapping(
    ngx_svc_federation_explain_t *e);
static ngx_uint_t ngx_svc_federation_explain_lacks(
    ngx_svc_federation_explain_t *e, u_char lacks[NGX_SVC_FEDERATION_LACKS]);
static void ngx_svc_federation_explain_failed(ngx_svc_federation_explain_t *e);
static const char *ngx_svc_federation_explain_hint(const ngx_str_t *why);
static const ngx_str_t *ngx_svc_federation_explain_outcome(
    const ngx_svc_federation_explain_t *e);
static void ngx_svc_federation_explain_user(ngx_svc_federation_explain_t *e);


/* How each is told of if it has come to an end. */

static const ngx_svc_federation_explain_pt  ngx_svc_federation_explain_good[]
= {
    [NGX_SVC_FEDERATION_AT_METADATA] = ngx_svc_federation_explain_metadata,
    [NGX_SVC_FEDERATION_AT_AUTHORIZATION]
        = ngx_svc_federation_explain_authorization,
    [NGX_SVC_FEDERATION_AT_TOKENS] = ngx_svc_federation_explain_tokens,
    [NGX_SVC_FEDERATION_AT_ID_TOKEN] = ngx_svc_federation_explain_id_token,
    [NGX_SVC_FEDERATION_AT_CLAIMS] = ngx_svc_federation_explain_came,
    [NGX_SVC_FEDERATION_AT_MAPPING] = ngx_svc_federation_explain_mapping,
    [NGX_SVC_FEDERATION_AT_ROW] = ngx_svc_federation_explain_row,
    [NGX_SVC_FEDERATION_AT_FACTOR] = ngx_svc_federation_explain_factor
};

/* What a refusal of ours, or an error of the provider's, has in it. */

static const struct {
    const char  *sign;
    const char  *hint;
} ngx_svc_federation_explain_hints[] = {
    { "invalid_client", " \"clientId\" or \"clientSecret\" is not what the "
      "provider has: set the secret again." },
    { "the token endpoint: status 401", " \"clientId\" or \"clientSecret\" is "
      "not what the provider has: set the secret again." },
    { "unauthorized_client", " Allow the authorization code flow for this "
      "client there." },
    { "invalid_grant", " Register the redirect URI there, byte for byte." },
    { "invalid_scope", " Allow the scopes openid, email and profile there." },
    { "access_denied", " Whoever was there has cancelled, or may not use this "
      "application: have the person assigned to it there." },
    { "login_required", " Sign in there first." },
    { "interaction_required", " Sign in there first." },
    { "no ID token", " Allow the scope openid for this client there." },
    { "another 'issuer'", " \"issuer\" must be what the provider calls itself, "
      "byte for byte: look for a \"/\" at its end." },
    { "'iss'", " It must be the \"issuer\" of the metadata, byte for byte." },
    { "\"iss\"", " It must be the \"issuer\" of the metadata, byte for byte: "
      "an answer of another provider is sent nowhere." },
    { "'aud'", " The provider has issued it for another client: look at "
      "\"clientId\"." },
    { "'azp'", " The provider has issued it for another client: look at "
      "\"clientId\"." },
    { "'kid'", " The provider signs with a key that it does not publish, or "
      "has not for long: keys are asked for once a minute, so test again "
      "then." },
    { "its key", " The provider signs with another key than it publishes." },
    { "no key for", " The provider must publish an RSA key, or one of P-256, "
      "P-384 or Ed25519." },
    { "'exp'", " The clocks of the provider and of this service must not be "
      "more than a minute apart." },
    { "'iat'", " The clocks of the provider and of this service must not be "
      "more than a minute apart." },
    { "'nbf'", " The clocks of the provider and of this service must not be "
      "more than a minute apart." },
    { "'nonce'", " The provider must put the \"nonce\" of the request into the "
      "ID token." },
    { "'tid'", " \"tenantId\" or \"allowedTenants\" must have the directory "
      "of whoever signs in." },
    { "too old", " The provider has not told of itself for seven days: it must "
      "be reached at its \"issuer\"." },
    { "refused: the address", " The operator lets nobody be asked at such an "
      "address but those of \"svc_federation_allow\"." },
    { "no public address", " The operator lets nobody be asked at such an "
      "address but those of \"svc_federation_allow\"." },
    { "'sub'", " The provider must name the person by \"sub\", the same in "
      "each answer." }
};


ngx_int_t
ngx_svc_federation_explain(ngx_svc_federation_flow_t *flow,
    const ngx_svc_federation_found_t *found, ngx_str_t *text)
{
    ngx_uint_t                     i;
    ngx_svc_federation_explain_t   e;

    e.flow = flow;
    e.found = found;

    /*
     * A form comes without the browser's cookie, and may be of whomever the
     * address was sent to: what it says is shown to that person alone.
     */

    e.hidden = flow->posted && (found == NULL || !found->settings.caller);

    if (ngx_svc_json_writer_init(&e.w, flow->login.sr->request->pool, 4096)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    flow->outcome = *ngx_svc_federation_explain_outcome(&e);

    ngx_svc_json_plain(&e.w, "outcome", flow->outcome.data, flow->outcome.len);
    ngx_svc_federation_explain_user(&e);
    ngx_svc_json_open(&e.w, "steps", '[');

    for (i = 0; i < (ngx_uint_t) flow->step; i++) {
        ngx_svc_federation_explain_good[i](&e);
    }

    if (found == NULL) {
        ngx_svc_federation_explain_failed(&e);
    }

    ngx_svc_json_close(&e.w, ']');

    ngx_svc_federation_explain_claims(&e);
    ngx_svc_federation_explain_attributes(&e);
    ngx_svc_federation_explain_groups(&e);

    text->data = e.w.start;
    text->len = e.w.last - e.w.start;

    return e.w.failed || text->len > NGX_SVC_SEALED_MAX ? NGX_ERROR : NGX_OK;
}


static void
ngx_svc_federation_explain_metadata(ngx_svc_federation_explain_t *e)
{
    ngx_svc_oidc_metadata_t  m;

    if (e->flow->connection.settings.provider->oauth
        || ngx_svc_federation_document(e->flow, &m) != NGX_OK)
    {
        ngx_svc_federation_step(e, NGX_SVC_FEDERATION_AT_METADATA, 1,
                                "The provider publishes none: where "
                                "its servers are is known.");
        return;
    }

    ngx_svc_federation_step(e, NGX_SVC_FEDERATION_AT_METADATA, 1,
                            "The issuer is \"%V\".", &m.issuer);
}


static void
ngx_svc_federation_explain_authorization(ngx_svc_federation_explain_t *e)
{
    ngx_svc_federation_step(e, NGX_SVC_FEDERATION_AT_AUTHORIZATION, 1,
                            "The browser has come back with a code%s.",
                            e->flow->issuer.len
                            ? ", and \"iss\" is the issuer" : "");
}


static void
ngx_svc_federation_explain_tokens(ngx_svc_federation_explain_t *e)
{
    ngx_svc_federation_step(e, NGX_SVC_FEDERATION_AT_TOKENS, 1,
                            "The provider has taken the code, and "
                            "answered with %s.",
                            e->flow->id_token.len ? "an ID token"
                                                  : "an access token");
}


static void
ngx_svc_federation_explain_id_token(ngx_svc_federation_explain_t *e)
{
    if (e->flow->id_token.len) {
        ngx_svc_federation_step(e, NGX_SVC_FEDERATION_AT_ID_TOKEN, 1,
                                "It is signed by a key of the "
                                "issuer's, and for \"%V\".",
                                &e->flow->connection.client_id);
    }
}


static void
ngx_svc_federation_explain_came(ngx_svc_federation_explain_t *e)
{
    ngx_svc_federation_flow_t  *flow;

    flow = e->flow;

    if (e->hidden) {
        ngx_svc_federation_step(e, NGX_SVC_FEDERATION_AT_CLAIMS, 1,
                                "They are shown where the identity is that of "
                                "whoever tests.");
        return;
    }

    if (flow->proof.email.data == NULL) {
        ngx_svc_federation_step(e, NGX_SVC_FEDERATION_AT_CLAIMS, 1,
                                "There is no e-mail address among what "
                                "came.");
        return;
    }

    ngx_svc_federation_step(e, NGX_SVC_FEDERATION_AT_CLAIMS, 1,
                            "The e-mail address is \"%V\", and the "
                            "provider %s for it.", &flow->proof.email,
                            flow->proof.verified ? "vouches"
                                                 : "does not vouch");
}


static void
ngx_svc_federation_explain_mapping(ngx_svc_federation_explain_t *e)
{
    u_char                      lacks[NGX_SVC_FEDERATION_LACKS];
    const char                 *detail;
    ngx_svc_federation_flow_t  *flow;

    flow = e->flow;

    if (ngx_svc_federation_explain_lacks(e, lacks)) {
        ngx_svc_federation_step(e, NGX_SVC_FEDERATION_AT_MAPPING, 0,
                                "No claim says %s: look at "
                                "\"attributeMapping\", or have the provider "
                                "send it.", lacks);
        return;
    }

    detail = NULL;

    if (flow->connection.maps_groups) {
        detail = flow->proof.overage
                 ? "There are too many groups for the provider to send: have "
                   "it send those alone that are mapped."
                 : flow->proof.groups.len <= sizeof("[]") - 1
                 ? "There is no group among what came: have the provider send "
                   "the claim \"groups\", an array."
                 : !e->found->settings.manages
                 ? "Nobody joins groups by the connection: it does not vouch "
                   "for \"groups:manage\"."
                 : NULL;
    }

    ngx_svc_federation_step(e, NGX_SVC_FEDERATION_AT_MAPPING, detail == NULL,
                            "%s", detail ? detail
                                         : "All that is mapped has come.");
}


/* Writes the attributes whose claims have not come.  Returns how many. */

static ngx_uint_t
ngx_svc_federation_explain_lacks(ngx_svc_federation_explain_t *e,
    u_char lacks[NGX_SVC_FEDERATION_LACKS])
{
    u_char                     *p, *last;
    ngx_str_t                   names[NGX_SVC_ATTRIBUTES];
    ngx_uint_t                  i, n;
    ngx_svc_federation_flow_t  *flow;

    flow = e->flow;
    n = 0;
    p = lacks;
    last = lacks + NGX_SVC_FEDERATION_LACKS - 1;

    if (ngx_svc_attribute_map_read(flow->login.sr->request->pool,
                                   &flow->connection.mapping, names)
        != NGX_OK)
    {
        e->w.failed = 1;
        return 0;
    }

    for (i = 0; i < NGX_SVC_ATTRIBUTES; i++) {
        if (names[i].len && flow->proof.attributes[i].data == NULL
            && ngx_strcmp(ngx_svc_attribute_keys[i], "email") != 0)
        {
            p = ngx_slprintf(p, last, "%s%s", n++ ? ", " : "",
                             ngx_svc_attribute_keys[i]);
        }
    }

    *p = '\0';

    return n;
}


/* The provider's own words are in it, cut, as in the audit log. */

static void
ngx_svc_federation_explain_failed(ngx_svc_federation_explain_t *e)
{
    ngx_str_t         said;
    const ngx_str_t  *why;
    ngx_svc_error_t  *err;

    why = &e->flow->why;
    err = &e->flow->login.sr->error;

    if (why->len == 0) {
        said.data = err->detail;
        said.len = err->len;

        ngx_svc_federation_step(e, e->flow->step, 0, "%V", &said);
        return;
    }

    said.data = why->data + 1;
    said.len = why->len - 1;

    ngx_svc_federation_step(e, e->flow->step, 0, "%c%V.%s",
                            ngx_toupper(why->data[0]), &said,
                            ngx_svc_federation_explain_hint(why));
}


static const char *
ngx_svc_federation_explain_hint(const ngx_str_t *why)
{
    ngx_uint_t   i;
    const char  *sign;

    for (i = 0; i < sizeof(ngx_svc_federation_explain_hints)
                    / sizeof(ngx_svc_federation_explain_hints[0]); i++)
    {
        sign = ngx_svc_federation_explain_hints[i].sign;

        if (ngx_strlcasestrn(why->data, why->data + why->len, (u_char *) sign,
                             ngx_strlen(sign) - 1))
        {
            return ngx_svc_federation_explain_hints[i].hint;
        }
    }

    return "";
}


/* It is what came of a sign-in, or the error of its page. */

static const ngx_str_t *
ngx_svc_federation_explain_outcome(const ngx_svc_federation_explain_t *e)
{
    static const ngx_str_t  denied = ngx_string("access_denied");

    static const ngx_str_t  outcomes[] = {
        [NGX_SVC_FEDERATION_OTHER] = ngx_string("flow_expired"),
        [NGX_SVC_FEDERATION_LINKED] = ngx_string("sign_in"),
        [NGX_SVC_FEDERATION_INACTIVE] = ngx_string("access_denied"),
        [NGX_SVC_FEDERATION_UNCOVERED] = ngx_string("access_denied"),
        [NGX_SVC_FEDERATION_UNVERIFIED] = ngx_string("email_unverified"),
        [NGX_SVC_FEDERATION_FORCED] = ngx_string("sso_required"),
        [NGX_SVC_FEDERATION_HELD] = ngx_string("link_required"),
        [NGX_SVC_FEDERATION_LINK] = ngx_string("link"),
        [NGX_SVC_FEDERATION_NEW] = ngx_string("new_user"),
        [NGX_SVC_FEDERATION_NOBODY] = ngx_string("no_account"),
        [NGX_SVC_FEDERATION_CONFLICT] = ngx_string("conflict"),
        [NGX_SVC_FEDERATION_STRANGER] = ngx_string("access_denied"),
        [NGX_SVC_FEDERATION_INVITED] = ngx_string("invitation"),
        [NGX_SVC_FEDERATION_MISMATCH] = ngx_string("invitation_mismatch"),
        [NGX_SVC_FEDERATION_UNINVITED] = ngx_string("invalid_invite")
    };

    if (e->found == NULL) {
        return &ngx_svc_error_row(e->flow->login.sr->error.kind)->code;
    }

    return e->found->barred ? &denied : &outcomes[e->flow->match];
}


static void
ngx_svc_federation_explain_user(ngx_svc_federation_explain_t *e)
{
    const ngx_str_t  *name;

    name = e->found ? &e->found->settings.user_name : NULL;

    if (name && name->len) {
        ngx_svc_json_string(&e->w, "user", name->data, name->len);

    } else {
        ngx_svc_json_null(&e->w, "user");
    }
}
