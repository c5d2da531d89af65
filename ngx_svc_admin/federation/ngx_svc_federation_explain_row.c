/*
 * Whom a test of a connection would let in, and why, or why nobody.
 */

#include "ngx_svc_federation_explain_row.h"


static const char *ngx_svc_federation_explain_after(
    const ngx_svc_federation_explain_t *e, ngx_uint_t *ok);
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

static const char *const  ngx_svc_federation_explain_rows[] = {
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
    [NGX_SVC_FEDERATION_CONFLICT] = "\"%V\" is not let in.%s%s",
    [NGX_SVC_FEDERATION_STRANGER] = "\"%V\" is not let in.%s%s",
    [NGX_SVC_FEDERATION_INVITED] = "\"%V\" gets the account of a pending "
        "invitation.%s%s",
    [NGX_SVC_FEDERATION_MISMATCH] = "\"%V\" is not whom the invitation is "
        "for.%s%s",
    [NGX_SVC_FEDERATION_UNINVITED] = "\"%V\": the invitation is over.%s%s"
};


void
ngx_svc_federation_explain_row(ngx_svc_federation_explain_t *e)
{
    ngx_uint_t        ok;
    const char       *after, *off;
    const ngx_str_t  *who;

    static const ngx_str_t  none = ngx_string("(no address)");
    static const ngx_str_t  hidden = ngx_string("(somebody)");

    who = e->found->settings.user_name.len ? &e->found->settings.user_name
          : e->hidden ? &hidden
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

    after = ngx_svc_federation_explain_after(e, &ok);

    ngx_svc_federation_step(e, NGX_SVC_FEDERATION_AT_ROW, ok,
                            ngx_svc_federation_explain_rows[e->flow->match],
                            who, after, off);
}


/* Returns what would be right, or "" for somebody who comes in. */

static const char *
ngx_svc_federation_explain_after(const ngx_svc_federation_explain_t *e,
    ngx_uint_t *ok)
{
    *ok = 0;

    switch (e->flow->match) {

    case NGX_SVC_FEDERATION_LINKED:
    case NGX_SVC_FEDERATION_LINK:
    case NGX_SVC_FEDERATION_NEW:
    case NGX_SVC_FEDERATION_INVITED:
        *ok = 1;
        return "";

    case NGX_SVC_FEDERATION_UNCOVERED:
        return ngx_svc_federation_explain_covers(&e->found->settings);

    case NGX_SVC_FEDERATION_UNVERIFIED:
        return ngx_svc_federation_explain_unverified(e);

    case NGX_SVC_FEDERATION_HELD:
        return ngx_svc_federation_explain_held(e);

    case NGX_SVC_FEDERATION_NOBODY:
        return ngx_svc_federation_explain_nobody(e);

    default:
        return "";
    }
}


static const char *
ngx_svc_federation_explain_covers(
    const ngx_svc_row_federation_test_found_t *settings)
{
    static const ngx_str_t  owner = ngx_string("owner");

    /* there is no account yet */

    if (settings->role.len == 0) {
        return " Whoever vouches for it has to have all permissions of the "
               "invitation's role: for an owner's it is an owner.";
    }

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
