/*
 * The table of errors.
 */

#include "ngx_svc_error.h"


#define NGX_SVC_ERROR_NAME  64          /* bytes of a format of a name */


static size_t ngx_svc_error_member(ngx_svc_error_t *err, const char *fmt,
    va_list args);


static const ngx_svc_error_row_t  ngx_svc_errors[NGX_SVC_E_LAST] = {

    { 200, ngx_null_string, ngx_null_string, ngx_null_string,
      ngx_null_string },

    { 400, ngx_string("invalid_request"), ngx_null_string,
      ngx_string("The request is malformed."), ngx_null_string },

    { 400, ngx_string("invalid_request"), ngx_string("invalidSyntax"),
      ngx_string("The body is not valid."), ngx_null_string },

    { 400, ngx_string("invalid_request"), ngx_string("invalidValue"),
      ngx_string("A value is missing or not valid."), ngx_null_string },

    { 400, ngx_string("invalid_request"), ngx_string("invalidFilter"),
      ngx_string("The filter is not valid."), ngx_null_string },

    { 400, ngx_string("invalid_request"), ngx_string("invalidPath"),
      ngx_string("The path is not valid."), ngx_null_string },

    { 400, ngx_string("invalid_request"), ngx_string("noTarget"),
      ngx_string("The operation needs a path."), ngx_null_string },

    { 400, ngx_string("invalid_request"), ngx_string("mutability"),
      ngx_string("The attribute cannot be changed so."), ngx_null_string },

    { 400, ngx_string("invalid_request"), ngx_string("tooMany"),
      ngx_string("The filter has too much to look at."), ngx_null_string },

    { 400, ngx_string("limit_exceeded"), ngx_null_string,
      ngx_string("The tenant has as many of these as it may have."),
      ngx_null_string },

    { 400, ngx_string("last_admin"), ngx_null_string,
      ngx_string("The tenant would be left without an owner."),
      ngx_null_string },

    { 400, ngx_string("anti_lockout"), ngx_null_string,
      ngx_string("Nobody would be admitted any more, or not the caller."),
      ngx_null_string },

    { 400, ngx_string("unsupported_image"), ngx_null_string,
      ngx_string("The body must be a PNG, JPEG or WebP image."),
      ngx_null_string },

    { 400, ngx_string("invalid_image"), ngx_null_string,
      ngx_string("The image cannot be decoded."), ngx_null_string },

    { 400, ngx_string("invalid_image_dimensions"), ngx_null_string,
      ngx_string("The image has more pixels than it may have."),
      ngx_null_string },

    { 400, ngx_string("password_rejected"), ngx_null_string,
      ngx_string("The password does not do."), ngx_null_string },

    { 400, ngx_string("invalid_token"), ngx_null_string,
      ngx_string("The token is unknown, expired or has been used."),
      ngx_null_string },

    { 400, ngx_string("invalid_invite"), ngx_null_string,
      ngx_string("The invitation is unknown, or is over."), ngx_null_string },

    { 400, ngx_string("challenge_expired"), ngx_null_string,
      ngx_string("The challenge is too old, or has been tried too often."),
      ngx_null_string },

    { 400, ngx_string("last_factor"), ngx_null_string,
      ngx_string("The access policy wants a second factor of the user."),
      ngx_null_string },

    { 400, ngx_string("domain_verification_failed"), ngx_null_string,
      ngx_string("No TXT record of the domain has the value."),
      ngx_null_string },

    { 400, ngx_string("flow_expired"), ngx_null_string,
      ngx_string("The sign-in has taken too long: begin it again."),
      ngx_null_string },

    { 400, ngx_string("invitation_mismatch"), ngx_null_string,
      ngx_string("The invitation is for another address."),
      ngx_null_string },

    { 400, ngx_string("invalid_client"), ngx_null_string,
      ngx_string("The client is unknown, or does not prove itself."),
      ngx_string("invalid_client") },

    { 400, ngx_string("invalid_grant"), ngx_null_string,
      ngx_string("The grant is not good, or not for this client."),
      ngx_string("invalid_grant") },

    { 400, ngx_string("unauthorized_client"), ngx_null_string,
      ngx_string("The client may not do this."),
      ngx_string("unauthorized_client") },

    { 400, ngx_string("unsupported_grant_type"), ngx_null_string,
      ngx_string("The grant type is unknown."),
      ngx_string("unsupported_grant_type") },

    { 400, ngx_string("unsupported_response_type"), ngx_null_string,
      ngx_string("The response type must be \"code\"."),
      ngx_string("unsupported_response_type") },

    { 400, ngx_string("invalid_scope"), ngx_null_string,
      ngx_string("A scope is not allowed."),
      ngx_string("invalid_scope") },

    { 400, ngx_string("invalid_target"), ngx_null_string,
      ngx_string("The resource is not allowed."),
      ngx_string("invalid_target") },

    { 400, ngx_string("access_denied"), ngx_null_string,
      ngx_string("The user or the tenant does not allow it."),
      ngx_string("access_denied") },

    { 400, ngx_string("login_required"), ngx_null_string,
      ngx_string("The user must sign in."),
      ngx_string("login_required") },

    { 400, ngx_string("consent_required"), ngx_null_string,
      ngx_string("The user must consent."),
      ngx_string("consent_required") },

    { 400, ngx_string("unmet_authentication_requirements"), ngx_null_string,
      ngx_string("The user must sign in in another way."),
      ngx_string("unmet_authentication_requirements") },

    { 400, ngx_string("request_not_supported"), ngx_null_string,
      ngx_string("Request objects are not taken."),
      ngx_string("request_not_supported") },

    { 400, ngx_string("request_uri_not_supported"), ngx_null_string,
      ngx_string("Request objects are not taken."),
      ngx_string("request_uri_not_supported") },

    { 400, ngx_string("invalid_dpop_proof"), ngx_null_string,
      ngx_string("The DPoP proof is missing or not valid."),
      ngx_string("invalid_dpop_proof") },

    { 400, ngx_string("use_dpop_nonce"), ngx_null_string,
      ngx_string("The DPoP proof needs the nonce of this answer."),
      ngx_string("use_dpop_nonce") },

    { 401, ngx_string("unauthorized"), ngx_null_string,
      ngx_string("A valid bearer token is needed: missing, unknown, expired"
                 " or revoked."), ngx_null_string },

    { 401, ngx_string("unauthenticated"), ngx_null_string,
      ngx_string("A session is needed: it is missing, or has ended."),
      ngx_null_string },

    { 401, ngx_string("invalid_credentials"), ngx_null_string,
      ngx_string("The e-mail address or the password is wrong."),
      ngx_null_string },

    { 401, ngx_string("invalid_code"), ngx_null_string,
      ngx_string("The code is wrong, or has been used."), ngx_null_string },

    { 401, ngx_string("federation_failed"), ngx_null_string,
      ngx_string("The identity provider's answer is not good."),
      ngx_null_string },

    { 401, ngx_string("invalid_client"), ngx_null_string,
      ngx_string("The client is unknown, or does not prove itself."),
      ngx_string("invalid_client") },

    { 403, ngx_string("forbidden"), ngx_null_string,
      ngx_string("The credential does not grant this operation."),
      ngx_null_string },

    { 403, ngx_string("csrf_failed"), ngx_null_string,
      ngx_string("The request does not come from where the session does."),
      ngx_null_string },

    { 403, ngx_string("access_denied"), ngx_null_string,
      ngx_string("Signing in is not allowed from here and now."),
      ngx_null_string },

    { 403, ngx_string("step_up_required"), ngx_null_string,
      ngx_string("A fresh second factor is needed: POST /v1/mfa/step-up."),
      ngx_null_string },

    { 403, ngx_string("mfa_enrollment_required"), ngx_null_string,
      ngx_string("A second factor must be enrolled first."), ngx_null_string },

    { 403, ngx_string("password_expired"), ngx_null_string,
      ngx_string("A new password is needed: POST /v1/auth/password."),
      ngx_null_string },

    { 403, ngx_string("signup_disabled"), ngx_null_string,
      ngx_string("Accounts are made by invitation only."), ngx_null_string },

    { 403, ngx_string("passwordless_disabled"), ngx_null_string,
      ngx_string("This tenant has no sign-in by mail."), ngx_null_string },

    { 403, ngx_string("federation_denied"), ngx_null_string,
      ngx_string("The identity provider has not signed the user in."),
      ngx_null_string },

    { 403, ngx_string("email_unverified"), ngx_null_string,
      ngx_string("The identity provider vouches for no address."),
      ngx_null_string },

    { 403, ngx_string("no_account"), ngx_null_string,
      ngx_string("Nobody has an account by that identity."),
      ngx_null_string },

    { 403, ngx_string("link_required"), ngx_null_string,
      ngx_string("Sign in first, and then link the identity."),
      ngx_null_string },

    { 403, ngx_string("sso_required"), ngx_null_string,
      ngx_string("Addresses of this domain sign in by one connection alone."),
      ngx_null_string },

    { 403, ngx_string("directory_account"), ngx_null_string,
      ngx_string("The directory has the password of this account."),
      ngx_null_string },

    { 403, ngx_string("directory_password_expired"), ngx_null_string,
      ngx_string("The password has expired: change it in your directory."),
      ngx_null_string },

    { 404, ngx_string("not_found"), ngx_null_string,
      ngx_string("There is no such resource."), ngx_null_string },

    { 405, ngx_string("method_not_allowed"), ngx_null_string,
      ngx_string("The method is not offered here; see the Allow header."),
      ngx_null_string },

    { 408, ngx_string("request_timeout"), ngx_null_string,
      ngx_string("The request body did not arrive in time."),
      ngx_null_string },

    { 409, ngx_string("conflict"), ngx_null_string,
      ngx_string("The resource exists already."), ngx_null_string },

    { 409, ngx_string("conflict"), ngx_string("uniqueness"),
      ngx_string("The value is already in use."), ngx_null_string },

    { 409, ngx_string("email_taken"), ngx_string("uniqueness"),
      ngx_string("A user with this e-mail address exists already."),
      ngx_null_string },

    { 409, ngx_string("slug_taken"), ngx_null_string,
      ngx_string("A tenant with this slug exists already."), ngx_null_string },

    { 409, ngx_string("role_in_use"), ngx_null_string,
      ngx_string("The role is still assigned."), ngx_null_string },

    { 409, ngx_string("idempotency_conflict"), ngx_null_string,
      ngx_string("The Idempotency-Key came with another request before."),
      ngx_null_string },

    { 412, ngx_string("precondition_failed"), ngx_null_string,
      ngx_string("The resource has changed: read it again."),
      ngx_null_string },

    { 413, ngx_string("payload_too_large"), ngx_null_string,
      ngx_string("The request body is larger than 1048576 bytes."),
      ngx_null_string },

    { 414, ngx_string("uri_too_long"), ngx_null_string,
      ngx_string("The request URI is too long."), ngx_null_string },

    { 416, ngx_string("range_not_satisfiable"), ngx_null_string,
      ngx_string("The resource has fewer bytes; see Content-Range."),
      ngx_null_string },

    { 429, ngx_string("rate_limited"), ngx_null_string,
      ngx_string("Too many requests: try again later."),
      ngx_string("temporarily_unavailable") },

    { 429, ngx_string("account_locked"), ngx_null_string,
      ngx_string("Too many failures: try again later."),
      ngx_string("temporarily_unavailable") },

    { 500, ngx_string("internal_error"), ngx_null_string,
      ngx_string("The server failed to answer; the error log says why."),
      ngx_string("server_error") },

    { 501, ngx_string("not_implemented"), ngx_null_string,
      ngx_string("The server does not know this transfer coding."),
      ngx_null_string },

    { 503, ngx_string("unavailable"), ngx_null_string,
      ngx_string("The service is not available now: try again."),
      ngx_string("temporarily_unavailable") },

    { 505, ngx_string("http_version_not_supported"), ngx_null_string,
      ngx_string("The server does not speak this version of HTTP."),
      ngx_null_string },
};


const ngx_svc_error_row_t *
ngx_svc_error_row(ngx_svc_error_e kind)
{
    return &ngx_svc_errors[kind];
}


ngx_svc_error_e
ngx_svc_error_kind(ngx_uint_t status)
{
    ngx_uint_t  i;

    for (i = NGX_SVC_E_NONE + 1; i < NGX_SVC_E_LAST; i++) {
        if (ngx_svc_errors[i].status == status) {
            return i;
        }
    }

    return NGX_SVC_E_NONE;
}


ngx_int_t
ngx_svc_fail(ngx_svc_error_t *err, ngx_svc_error_e kind, const char *fmt, ...)
{
    u_char   *p;
    va_list   args;

    if (err->kind != NGX_SVC_E_NONE) {
        return NGX_DECLINED;
    }

    err->kind = kind;

    va_start(args, fmt);
    err->member = ngx_svc_error_member(err, fmt, args);
    va_end(args);

    va_start(args, fmt);
    p = ngx_vslprintf(err->detail, err->detail + NGX_SVC_ERROR_DETAIL, fmt,
                      args);
    va_end(args);

    if (p == err->detail + NGX_SVC_ERROR_DETAIL) {

        /* it may be cut within a character: drop the bytes of the last one */

        while (p > err->detail && (p[-1] & 0xc0) == 0x80) {
            p--;
        }

        if (p > err->detail && p[-1] >= 0xc0) {
            p--;
        }
    }

    err->len = p - err->detail;

    return NGX_DECLINED;
}


/*
 * Returns the length of the name that the detail begins with, in quotes.  Only
 * the format says where the name ends: a client's own may have quotes in it.
 */

static size_t
ngx_svc_error_member(ngx_svc_error_t *err, const char *fmt, va_list args)
{
    u_char      *p;
    const char  *end;
    char         name[NGX_SVC_ERROR_NAME];

    if (*fmt != '"') {
        return 0;
    }

    fmt++;
    end = ngx_strchr(fmt, '"');

    if (end == NULL || (size_t) (end - fmt) >= sizeof(name)) {
        return 0;
    }

    ngx_memcpy(name, fmt, end - fmt);
    name[end - fmt] = '\0';

    p = ngx_vslprintf(err->detail, err->detail + NGX_SVC_ERROR_DETAIL - 1, name,
                      args);

    return (p < err->detail + NGX_SVC_ERROR_DETAIL - 1) ? p - err->detail : 0;
}
