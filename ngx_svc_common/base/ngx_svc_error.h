/*
 * The errors of requests, and what each surface answers for them.
 */

#ifndef _NGX_SVC_ERROR_H_INCLUDED_
#define _NGX_SVC_ERROR_H_INCLUDED_


#include "ngx_svc_common.h"


#define NGX_SVC_ERROR_DETAIL  512


typedef enum {
    NGX_SVC_E_NONE = 0,
    NGX_SVC_E_INVALID_REQUEST,      /* 400, no scimType */
    NGX_SVC_E_INVALID_SYNTAX,       /* 400 invalidSyntax */
    NGX_SVC_E_INVALID_VALUE,        /* 400 invalidValue */
    NGX_SVC_E_INVALID_FILTER,       /* 400 invalidFilter */
    NGX_SVC_E_INVALID_PATH,         /* 400 invalidPath */
    NGX_SVC_E_NO_TARGET,            /* 400 noTarget */
    NGX_SVC_E_MUTABILITY,           /* 400 mutability */
    NGX_SVC_E_TOO_MANY,             /* 400 tooMany */
    NGX_SVC_E_LIMIT_EXCEEDED,       /* 400 limit_exceeded */
    NGX_SVC_E_LAST_ADMIN,           /* 400 last_admin */
    NGX_SVC_E_ANTI_LOCKOUT,         /* 400 anti_lockout */
    NGX_SVC_E_UNSUPPORTED_IMAGE,    /* 400 unsupported_image */
    NGX_SVC_E_INVALID_IMAGE,        /* 400 invalid_image */
    NGX_SVC_E_IMAGE_DIMENSIONS,     /* 400 invalid_image_dimensions */
    NGX_SVC_E_PASSWORD_REJECTED,    /* 400 password_rejected */
    NGX_SVC_E_INVALID_TOKEN,        /* 400 invalid_token */
    NGX_SVC_E_INVALID_INVITE,       /* 400 invalid_invite */
    NGX_SVC_E_CHALLENGE,            /* 400 challenge_expired */
    NGX_SVC_E_LAST_FACTOR,          /* 400 last_factor */
    NGX_SVC_E_DOMAIN,               /* 400 domain_verification_failed */
    NGX_SVC_E_FLOW,                 /* 400 flow_expired */
    NGX_SVC_E_INVITATION,           /* 400 invitation_mismatch */
    NGX_SVC_E_CLIENT,               /* 400 invalid_client */
    NGX_SVC_E_GRANT,                /* 400 invalid_grant */
    NGX_SVC_E_UNAUTHORIZED_CLIENT,  /* 400 unauthorized_client */
    NGX_SVC_E_GRANT_TYPE,           /* 400 unsupported_grant_type */
    NGX_SVC_E_RESPONSE_TYPE,        /* 400 unsupported_response_type */
    NGX_SVC_E_SCOPE,                /* 400 invalid_scope */
    NGX_SVC_E_TARGET,               /* 400 invalid_target */
    NGX_SVC_E_BOUNDARY,             /* 400 access_denied */
    NGX_SVC_E_LOGIN,                /* 400 login_required */
    NGX_SVC_E_CONSENT,              /* 400 consent_required */
    NGX_SVC_E_ACR,                  /* 400 unmet_authentication_requirements */
    NGX_SVC_E_REQUEST_OBJECT,       /* 400 request_not_supported */
    NGX_SVC_E_REQUEST_URI,          /* 400 request_uri_not_supported */
    NGX_SVC_E_DPOP_PROOF,           /* 400 invalid_dpop_proof */
    NGX_SVC_E_DPOP_NONCE,           /* 400 use_dpop_nonce */
    NGX_SVC_E_UNAUTHORIZED,         /* 401 */
    NGX_SVC_E_UNAUTHENTICATED,      /* 401 unauthenticated */
    NGX_SVC_E_CREDENTIALS,          /* 401 invalid_credentials */
    NGX_SVC_E_CODE,                 /* 401 invalid_code */
    NGX_SVC_E_FEDERATION,           /* 401 federation_failed */
    NGX_SVC_E_CLIENT_BASIC,         /* 401 invalid_client */
    NGX_SVC_E_FORBIDDEN,            /* 403 */
    NGX_SVC_E_CSRF,                 /* 403 csrf_failed */
    NGX_SVC_E_ACCESS_DENIED,        /* 403 access_denied */
    NGX_SVC_E_STEP_UP,              /* 403 step_up_required */
    NGX_SVC_E_ENROLLMENT,           /* 403 mfa_enrollment_required */
    NGX_SVC_E_PASSWORD_EXPIRED,     /* 403 password_expired */
    NGX_SVC_E_SIGNUP_DISABLED,      /* 403 signup_disabled */
    NGX_SVC_E_PASSWORDLESS,         /* 403 passwordless_disabled */
    NGX_SVC_E_FEDERATION_DENIED,    /* 403 federation_denied */
    NGX_SVC_E_EMAIL_UNVERIFIED,     /* 403 email_unverified */
    NGX_SVC_E_NO_ACCOUNT,           /* 403 no_account */
    NGX_SVC_E_LINK,                 /* 403 link_required */
    NGX_SVC_E_SSO_REQUIRED,         /* 403 sso_required */
    NGX_SVC_E_DIRECTORY,            /* 403 directory_account */
    NGX_SVC_E_DIRECTORY_EXPIRED,    /* 403 directory_password_expired */
    NGX_SVC_E_NOT_FOUND,            /* 404 */
    NGX_SVC_E_METHOD_NOT_ALLOWED,   /* 405 */
    NGX_SVC_E_REQUEST_TIMEOUT,      /* 408 */
    NGX_SVC_E_CONFLICT,             /* 409, no scimType */
    NGX_SVC_E_UNIQUENESS,           /* 409 uniqueness */
    NGX_SVC_E_EMAIL_TAKEN,          /* 409 email_taken */
    NGX_SVC_E_SLUG_TAKEN,           /* 409 slug_taken */
    NGX_SVC_E_ROLE_IN_USE,          /* 409 role_in_use */
    NGX_SVC_E_IDEMPOTENCY,          /* 409 idempotency_conflict */
    NGX_SVC_E_PRECONDITION,         /* 412 precondition_failed */
    NGX_SVC_E_PAYLOAD_TOO_LARGE,    /* 413 */
    NGX_SVC_E_URI_TOO_LONG,         /* 414 */
    NGX_SVC_E_RANGE,                /* 416 */
    NGX_SVC_E_RATE_LIMITED,         /* 429 */
    NGX_SVC_E_LOCKED,               /* 429 account_locked */
    NGX_SVC_E_INTERNAL,             /* 500 */
    NGX_SVC_E_NOT_IMPLEMENTED,      /* 501 */
    NGX_SVC_E_UNAVAILABLE,          /* 503, with Retry-After */
    NGX_SVC_E_VERSION,              /* 505 */
    NGX_SVC_E_LAST
} ngx_svc_error_e;


typedef struct {
    ngx_uint_t       status;
    ngx_str_t        code;          /* in the admin API */
    ngx_str_t        scim_type;     /* RFC 7644, 3.12; may be empty */
    ngx_str_t        detail;        /* when the error has none of its own */
    ngx_str_t        oauth;         /* in OAuth, RFC 6749, 5.2; may be empty */
} ngx_svc_error_row_t;


typedef struct {
    ngx_svc_error_e  kind;
    size_t           len;
    size_t           member;        /* bytes of the name that follows the quote
                                       at the detail's beginning; 0: none */
    u_char           detail[NGX_SVC_ERROR_DETAIL];
} ngx_svc_error_t;


/* Returns the row of an error. */
NGX_SVC_API const ngx_svc_error_row_t *ngx_svc_error_row(ngx_svc_error_e kind);

/* Returns the error that an HTTP status stands for; NGX_SVC_E_NONE: none. */
NGX_SVC_API ngx_svc_error_e ngx_svc_error_kind(ngx_uint_t status);

/*
 * Sets *err; fmt is that of ngx_sprintf().  The detail is cut at
 * NGX_SVC_ERROR_DETAIL bytes, between two characters of UTF-8.  Where fmt
 * begins with a quote, what stands up to the next one names the member that is
 * wrong, as in "\"%s\" must be ...".  The first error stays: a later call
 * changes nothing.  Returns NGX_DECLINED, so that a check
 * can "return ngx_svc_fail(...)".
 */
NGX_SVC_API ngx_int_t ngx_svc_fail(ngx_svc_error_t *err, ngx_svc_error_e kind,
    const char *fmt, ...);


#endif /* _NGX_SVC_ERROR_H_INCLUDED_ */
