/*
 * Whom a test of a connection would let in, and why, or why nobody.
 */

#include "ngx_svc_federation_explain_row.h"


static const char *ngx_svc_federation_explain_covers(
    const ngx_svc_row_federation_test_found_t *settings);
static const char *ngx_svc_federation_explain_unverified(
    const ngx_svc_federation_explain_t *e);
static const char *ngx_svc_federation_explain_held(
    const ngx_svc_federation_explain_t *e);
static const char *ngx_svc_federation_explain_nobody(
    const ngx_svc_federation_explain_t *e);
static const char *ngx_svc_federation_explain_one_factor(
    const ngx_svc_federation_explain_t *e);


/* A sentence has the user's name, or the address that came. */

void
ngx_svc_federation_explain_row(ngx_svc_federation_explain_t *e)
{
    ngx_uint_t        ok;
    const char       *after, *off;
    const ngx_str_t  *who;

    static const char *const  sentences[] = {
        [NGX_SVC_FEDERATION_OTHER] = "\"%V\": the connection has been changed "
            "since the test began: test it again.%s%s",
        [NGX_SVC_FEDERATION_LINKED] = "\"%V\" signs in: the identity is "
            "linked.%s%s",
        [NGX_SVC_FEDERATION_INACTIVE] = "\"%V\" is not let in: the user is not "
            "active.%s%s",
        [NGX_SVC_FEDERATION_UNCOVERED] = "\"%V\" is not let in: the connection "
            "does not cover who may do as much.%s%s",
        [NGX_SVC_FEDERATION_UNVERIFIED] = "\"%V\" is not known.%s%s",
        [NGX_SVC_FEDERATION_FORCED] = "\"%V\" is not let in: people of that "
            "domain come in by another connection.%s%s",
        [NGX_SVC_FEDERATION_HELD] = "\"%V\" is the address of a user who is "
            "not linked by it.%s%s",
        [NGX_SVC_FEDERATION_LINK] = "\"%V\" signs in: the user has the "
            "address, and is linked to the identity.%s%s",
        [NGX_SVC_FEDERATION_NEW] = "\"%V\" becomes a user, with the role "
            "\"member\".%s%s",
        [NGX_SVC_FEDERATION_NOBODY] = "\"%V\" is nobody's address.%s%s",
        [NGX_SVC_FEDERATION_INVITED] = "\"%V\" gets the account of a pending "
            "invitation.%s%s",
        [NGX_SVC_FEDERATION_UNINVITED] = "\"%V\": the invitation is over.%s%s"
    };

    static const ngx_str_t  none = ngx_string("(no address)");

    who = e->found->settings.user_name.len ? &e->found->settings.user_name
          : e->flow->proof.email.len ? &e->flow->proof.email : &none;

    off = e->found->settings.enabled ? "" : " The connection is off: nobody "
          "comes in until it is enabled.";

    if (e->found->barred) {
        ngx_svc_federation_step(e, NGX_SVC_FEDERATION_AT_ROW, 0,
                                "\"%V\" is not let in from here and "
                                "now: this address is blocked, or the "
                                "access policy denies it.%s", who, off);
        return;
    }

    ok = 0;
    after = "";

    switch (e->flow->match) {

    case NGX_SVC_FEDERATION_LINKED:
    case NGX_SVC_FEDERATION_LINK:
    case NGX_SVC_FEDERATION_NEW:
    case NGX_SVC_FEDERATION_INVITED:
        ok = 1;
        break;

    case NGX_SVC_FEDERATION_UNCOVERED:
        after = ngx_svc_federation_explain_covers(&e->found->settings);
        break;

    case NGX_SVC_FEDERATION_UNVERIFIED:
        after = ngx_svc_federation_explain_unverified(e);
        break;

    case NGX_SVC_FEDERATION_HELD:
        after = ngx_svc_federation_explain_held(e);
        break;

    case NGX_SVC_FEDERATION_NOBODY:
        after = ngx_svc_federation_explain_nobody(e);
        break;

    default:
        break;
    }

    ngx_svc_federation_step(e, NGX_SVC_FEDERATION_AT_ROW, ok,
                            sentences[e->flow->match], who, after,
                            off);
}


static const char *
ngx_svc_federation_explain_covers(
    const ngx_svc_row_federation_test_found_t *settings)
{
    static const ngx_str_t  owner = ngx_string("owner");

    return ngx_svc_same(&settings->role, &owner)
           ? " An owner has to vouch for it, in a session: \"vouch\":true."
           : " Somebody with all permissions of the user's role has to vouch "
             "for it: \"vouch\":true; and who was given that role after the "
             "link was made has to be linked anew.";
}


static const char *
ngx_svc_federation_explain_unverified(const ngx_svc_federation_explain_t *e)
{
    if (e->flow->proof.email.data == NULL) {
        return " Have the provider send the claim \"email\": allow the scope "
               "email.";
    }

    switch (e->flow->connection.settings.provider->vouch) {

    case NGX_SVC_PROVIDER_TRUSTED:
        return " \"email_verified\" is not true: have the provider say so, or "
               "set \"trustEmail\" and have the domain, verified, among "
               "\"domains\".";

    case NGX_SVC_PROVIDER_MICROSOFT:
        return " Have the claim \"xms_edov\" sent, or set \"tenantId\" to the "
               "directory's UUID and have the domain, verified, among "
               "\"domains\".";

    case NGX_SVC_PROVIDER_NEVER:
        return " This provider vouches for no address: people link it "
               "themselves.";

    default:
        return " The provider does not vouch for the address: it must be "
               "verified there.";
    }
}


static const char *
ngx_svc_federation_explain_held(const ngx_svc_federation_explain_t *e)
{
    const ngx_svc_row_federation_test_found_t  *settings;

    static const ngx_str_t  never = ngx_string("never");
    static const ngx_str_t  verified = ngx_string("verified");

    settings = &e->found->settings;

    if (e->found->match.other) {
        return " The user has another identity of this connection: remove that "
               "link first.";
    }

    if (ngx_svc_same(&settings->link_by_email, &never)) {
        return " \"linkByEmail\" is \"never\": the user signs in, and links it "
               "then.";
    }

    if (settings->listed) {
        return " The domain is among \"domains\", but it is not verified by "
               "now: verify it.";
    }

    return ngx_svc_same(&settings->link_by_email, &verified)
           ? " The user has more than the role \"member\": then the domain "
             "must be among \"domains\"."
           : " The domain must be among \"domains\", or \"linkByEmail\" be "
             "\"verified\".";
}


static const char *
ngx_svc_federation_explain_nobody(const ngx_svc_federation_explain_t *e)
{
    const ngx_svc_row_federation_test_found_t  *settings;

    settings = &e->found->settings;

    if (!settings->jit) {
        return " Create the user, or set \"jitProvisioning\".";
    }

    if (settings->listed) {
        return " \"jitProvisioning\" is for verified domains: verify it.";
    }

    return settings->limited
           ? " \"jitProvisioning\" is for the domains of \"domains\", which "
             "this is none of."
           : " \"jitProvisioning\" without \"domains\" needs the branding's "
             "\"allowSelfSignup\".";
}


void
ngx_svc_federation_explain_factor(ngx_svc_federation_explain_t *e)
{
    if (e->flow->login.written.factor) {
        ngx_svc_federation_step(e, NGX_SVC_FEDERATION_AT_FACTOR, 1, "%s",
                                "The provider's second factor counts: "
                                "none is asked for here.");
        return;
    }

    if (!e->flow->connection.trust_mfa) {
        ngx_svc_federation_step(e, NGX_SVC_FEDERATION_AT_FACTOR, 1, "%s",
                                "It is one factor, whatever the "
                                "provider says: \"trustMfa\" is "
                                "false.");
        return;
    }

    ngx_svc_federation_step(e, NGX_SVC_FEDERATION_AT_FACTOR, 0,
                            "It is one factor: %s.",
                            ngx_svc_federation_explain_one_factor(e));
}


static const char *
ngx_svc_federation_explain_one_factor(const ngx_svc_federation_explain_t *e)
{
    if (e->flow->proof.auth_time.data == NULL) {
        return "the ID token does not say in \"auth_time\" when the person has "
               "signed in";
    }

    return e->flow->proof.recent
           ? "\"amr\" has not two kinds of factors, and \"acr\" is none of "
             "\"mfaContexts\""
           : "by \"auth_time\" the person has signed in more than 12 hours ago";
}
