/*
 * Authorization requests: the parameters whose errors go to the redirect URI.
 */

#include "ngx_svc_oauth_request_check.h"
#include "ngx_svc_oauth_request_acr.h"
#include "ngx_svc_oauth_request_claims.h"
#include "ngx_svc_oauth_request_targets.h"
#include "ngx_svc_base64.h"


#define NGX_SVC_OAUTH_STATE_MAX     2048    /* bytes */
#define NGX_SVC_OAUTH_NONCE_MAX     255     /* bytes */
#define NGX_SVC_OAUTH_DIGITS_MAX    10      /* of a number of seconds */
#define NGX_SVC_OAUTH_FRACTION_MAX  6       /* digits behind the point */


/*
 * A parameter.  check() returns NGX_OK; NGX_DECLINED with ar->error set; or
 * NGX_ERROR.
 */

typedef struct {
    const char   *name;
    ngx_int_t   (*check)(ngx_svc_oauth_request_t *ar, const ngx_str_t *value);
} ngx_svc_oauth_check_t;


static ngx_int_t ngx_svc_oauth_request_repeated(ngx_svc_oauth_request_t *ar);
static ngx_int_t ngx_svc_oauth_request_once(ngx_svc_oauth_request_t *ar,
    const char *name, ngx_str_t *value);
static ngx_int_t ngx_svc_oauth_request_checks(ngx_svc_oauth_request_t *ar);
static ngx_int_t ngx_svc_oauth_request_resources(ngx_svc_oauth_request_t *ar);
static ngx_int_t ngx_svc_oauth_request_scopes(ngx_svc_oauth_request_t *ar);
static ngx_int_t ngx_svc_oauth_request_take(ngx_svc_oauth_request_t *ar,
    ngx_int_t rc);
static ngx_int_t ngx_svc_oauth_request_object(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *value);
static ngx_int_t ngx_svc_oauth_request_uri(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *value);
static ngx_int_t ngx_svc_oauth_request_state(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *value);
static ngx_int_t ngx_svc_oauth_request_nonce(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *value);
static ngx_int_t ngx_svc_oauth_request_challenge(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *value);
static ngx_int_t ngx_svc_oauth_request_jkt(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *value);
static ngx_int_t ngx_svc_oauth_request_sha256(ngx_svc_oauth_request_t *ar,
    const char *name, const ngx_str_t *value, ngx_str_t *bytes);
static ngx_int_t ngx_svc_oauth_request_max_age(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *value);
static ngx_int_t ngx_svc_oauth_request_after(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *value);
static ngx_int_t ngx_svc_oauth_request_seconds(ngx_svc_oauth_request_t *ar,
    const char *name, const ngx_str_t *value, ngx_uint_t fraction,
    ngx_str_t *seconds);
static u_char *ngx_svc_oauth_request_digits(u_char *p, const u_char *end,
    ngx_uint_t max);
static ngx_int_t ngx_svc_oauth_request_prompt(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *value);
static ngx_uint_t ngx_svc_oauth_request_word(const u_char *p, size_t len);
static ngx_int_t ngx_svc_oauth_request_type(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *value);
static ngx_int_t ngx_svc_oauth_request_mode(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *value);
static ngx_int_t ngx_svc_oauth_request_mode_of(const ngx_str_t *value,
    ngx_svc_oauth_mode_e *mode);
static ngx_int_t ngx_svc_oauth_request_method(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *value);


/*
 * The checks in their order: the first fault is told.  A parameter that is
 * absent has a value without data.
 */

static const ngx_svc_oauth_check_t  ngx_svc_oauth_checks[] = {
    { "state", ngx_svc_oauth_request_state },
    { "request", ngx_svc_oauth_request_object },
    { "request_uri", ngx_svc_oauth_request_uri },
    { "nonce", ngx_svc_oauth_request_nonce },
    { "code_challenge", ngx_svc_oauth_request_challenge },
    { "dpop_jkt", ngx_svc_oauth_request_jkt },
    { "max_age", ngx_svc_oauth_request_max_age },
    { NGX_SVC_OAUTH_AUTH_AFTER, ngx_svc_oauth_request_after },
    { "prompt", ngx_svc_oauth_request_prompt },
    { "acr_values", ngx_svc_oauth_request_acr },
    { "claims", ngx_svc_oauth_request_claims },
    { "response_type", ngx_svc_oauth_request_type },
    { "response_mode", ngx_svc_oauth_request_mode },
    { "code_challenge_method", ngx_svc_oauth_request_method },
    { NULL, NULL }
};


/*
 * Runs the checks until one finds a fault.  The fault goes into ar->error:
 * sr->error is for errors that are not sent to the client's redirect URI.
 */

ngx_int_t
ngx_svc_oauth_request_check(ngx_svc_oauth_request_t *ar)
{
    ngx_int_t   rc;
    ngx_uint_t  i;

    static const struct {
        ngx_str_t    fault;
        ngx_int_t  (*check)(ngx_svc_oauth_request_t *ar);
    } checks[] = {
        { ngx_string("request"), ngx_svc_oauth_request_repeated },
        { ngx_string("request"), ngx_svc_oauth_request_checks },
        { ngx_string("target"), ngx_svc_oauth_request_resources },
        { ngx_string("scope"), ngx_svc_oauth_request_scopes }
    };

    for (i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        rc = checks[i].check(ar);

        if (rc == NGX_ERROR) {
            return NGX_ERROR;
        }

        if (rc != NGX_OK) {
            ar->fault = checks[i].fault;
            return NGX_OK;
        }
    }

    return NGX_OK;
}


/*
 * Refuses a parameter that comes twice.  Takes a state and a response_mode that
 * come once first: the client gets its error with this state, in this mode.
 */

static ngx_int_t
ngx_svc_oauth_request_repeated(ngx_svc_oauth_request_t *ar)
{
    ngx_str_t  state, mode;

    static const char *const  repeatable[] = { "resource", NULL };

    if (ngx_svc_oauth_request_once(ar, "state", &state) == NGX_OK
        && state.len <= NGX_SVC_OAUTH_STATE_MAX)
    {
        ar->state = state;
    }

    if (ngx_svc_oauth_request_once(ar, "response_mode", &mode) == NGX_OK) {
        (void) ngx_svc_oauth_request_mode_of(&mode, &ar->mode);
    }

    return ngx_svc_form_unique(&ar->oauth.form, repeatable, &ar->error);
}


static ngx_int_t
ngx_svc_oauth_request_once(ngx_svc_oauth_request_t *ar, const char *name,
    ngx_str_t *value)
{
    ngx_str_t  more;

    return ngx_svc_form_nth(&ar->oauth.form, name, 1, &more) == NGX_OK
           ? NGX_DECLINED
           : ngx_svc_form_nth(&ar->oauth.form, name, 0, value);
}


static ngx_int_t
ngx_svc_oauth_request_checks(ngx_svc_oauth_request_t *ar)
{
    ngx_int_t                     rc;
    ngx_str_t                     value;
    const ngx_svc_oauth_check_t  *check;

    for (check = ngx_svc_oauth_checks; check->name; check++) {

        rc = ngx_svc_form_value(&ar->oauth.form, check->name, &value,
                                &ar->error);

        if (rc == NGX_OK) {
            rc = check->check(ar, &value);
        }

        if (rc != NGX_OK) {
            return rc;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_request_resources(ngx_svc_oauth_request_t *ar)
{
    return ngx_svc_oauth_request_take(ar, ngx_svc_oauth_request_targets(ar));
}


static ngx_int_t
ngx_svc_oauth_request_scopes(ngx_svc_oauth_request_t *ar)
{
    return ngx_svc_oauth_request_take(ar, ngx_svc_oauth_scope(&ar->oauth));
}


/* Moves a fault from sr->error to ar->error: it is no answer yet. */

static ngx_int_t
ngx_svc_oauth_request_take(ngx_svc_oauth_request_t *ar, ngx_int_t rc)
{
    ngx_svc_error_t  *error;

    if (rc == NGX_DECLINED) {
        error = &ar->oauth.sr->error;

        ar->error.kind = error->kind;
        ar->error.len = error->len;
        ngx_memcpy(ar->error.detail, error->detail, error->len);

        error->kind = NGX_SVC_E_NONE;
    }

    return rc;
}


static ngx_int_t
ngx_svc_oauth_request_state(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *value)
{
    if (value->len > NGX_SVC_OAUTH_STATE_MAX) {
        return ngx_svc_fail(&ar->error, NGX_SVC_E_INVALID_REQUEST,
                            "'state' has more than %d bytes.",
                            NGX_SVC_OAUTH_STATE_MAX);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_request_object(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *value)
{
    return value->data == NULL
           ? NGX_OK : ngx_svc_fail(&ar->error, NGX_SVC_E_REQUEST_OBJECT,
                                   "'request' is not taken.");
}


static ngx_int_t
ngx_svc_oauth_request_uri(ngx_svc_oauth_request_t *ar, const ngx_str_t *value)
{
    return value->data == NULL
           ? NGX_OK : ngx_svc_fail(&ar->error, NGX_SVC_E_REQUEST_URI,
                                   "'request_uri' is not taken.");
}


static ngx_int_t
ngx_svc_oauth_request_nonce(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *value)
{
    if (value->len > NGX_SVC_OAUTH_NONCE_MAX) {
        return ngx_svc_fail(&ar->error, NGX_SVC_E_INVALID_REQUEST,
                            "'nonce' has more than %d bytes.",
                            NGX_SVC_OAUTH_NONCE_MAX);
    }

    ar->nonce = *value;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_oauth_request_challenge(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *value)
{
    return ngx_svc_oauth_request_sha256(ar, "code_challenge", value,
                                        &ar->challenge);
}


static ngx_int_t
ngx_svc_oauth_request_jkt(ngx_svc_oauth_request_t *ar, const ngx_str_t *value)
{
    return ngx_svc_oauth_request_sha256(ar, "dpop_jkt", value, &ar->jkt);
}


static ngx_int_t
ngx_svc_oauth_request_sha256(ngx_svc_oauth_request_t *ar, const char *name,
    const ngx_str_t *value, ngx_str_t *bytes)
{
    if (value->data == NULL) {
        return NGX_OK;
    }

    bytes->data = ngx_pnalloc(ar->oauth.sr->request->pool, NGX_SVC_SHA256_LEN);
    if (bytes->data == NULL) {
        return NGX_ERROR;
    }

    if (value->len == ngx_svc_base64url_len(NGX_SVC_SHA256_LEN)
        && ngx_svc_base64url_decode(value->data, value->len, bytes->data,
                                    &bytes->len)
           == NGX_OK)
    {
        return NGX_OK;
    }

    return ngx_svc_fail(&ar->error, NGX_SVC_E_INVALID_REQUEST,
                        "'%s' is not 43 characters of base64url.", name);
}


static ngx_int_t
ngx_svc_oauth_request_max_age(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *value)
{
    return ngx_svc_oauth_request_seconds(ar, "max_age", value, 0,
                                         &ar->max_age);
}


static ngx_int_t
ngx_svc_oauth_request_after(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *value)
{
    return ngx_svc_oauth_request_seconds(ar, NGX_SVC_OAUTH_AUTH_AFTER, value,
                                         NGX_SVC_OAUTH_FRACTION_MAX,
                                         &ar->auth_after);
}


/* fraction: how many digits there may be behind a point; 0: there is none. */

static ngx_int_t
ngx_svc_oauth_request_seconds(ngx_svc_oauth_request_t *ar, const char *name,
    const ngx_str_t *value, ngx_uint_t fraction, ngx_str_t *seconds)
{
    u_char  *p, *end;

    p = value->data;
    end = p + value->len;

    p = ngx_svc_oauth_request_digits(p, end, NGX_SVC_OAUTH_DIGITS_MAX);

    if (fraction && p > value->data && end - p > 1 && *p == '.') {
        p = ngx_svc_oauth_request_digits(p + 1, end, fraction);
    }

    if (p < end) {
        return ngx_svc_fail(&ar->error, NGX_SVC_E_INVALID_REQUEST,
                            "'%s' is no number of seconds.", name);
    }

    *seconds = *value;

    return NGX_OK;
}


/* Returns what follows the digits. */

static u_char *
ngx_svc_oauth_request_digits(u_char *p, const u_char *end, ngx_uint_t max)
{
    while (p < end && max && *p >= '0' && *p <= '9') {
        p++;
        max--;
    }

    return p;
}


static ngx_int_t
ngx_svc_oauth_request_prompt(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *value)
{
    u_char      *p, *start, *end;
    ngx_uint_t   word;

    static const ngx_str_t  yes = { 1, (u_char *) "\1" };

    p = value->data;
    end = p + value->len;

    while (p < end) {
        start = p;

        while (p < end && *p != ' ') {
            p++;
        }

        word = ngx_svc_oauth_request_word(start, p - start);

        if (word == 0 && p > start) {
            return ngx_svc_fail(&ar->error, NGX_SVC_E_INVALID_REQUEST,
                                "'prompt' may be 'none', or 'login', "
                                "'consent', 'select_account' and 'create'.");
        }

        ar->prompt |= word;

        while (p < end && *p == ' ') {
            p++;
        }
    }

    if ((ar->prompt & NGX_SVC_OAUTH_PROMPT_NONE)
        && ar->prompt != NGX_SVC_OAUTH_PROMPT_NONE)
    {
        ar->prompt = 0;
        return ngx_svc_fail(&ar->error, NGX_SVC_E_INVALID_REQUEST,
                            "'prompt' is 'none', and something else.");
    }

    ar->again = (ar->prompt & NGX_SVC_OAUTH_PROMPT_LOGIN) ? yes : ar->again;
    ar->ask = (ar->prompt & NGX_SVC_OAUTH_PROMPT_CONSENT) ? yes : ar->ask;

    return NGX_OK;
}


static ngx_uint_t
ngx_svc_oauth_request_word(const u_char *p, size_t len)
{
    ngx_uint_t  i;

    static const struct {
        ngx_str_t   name;
        ngx_uint_t  prompt;
    } words[] = {
        { ngx_string("none"), NGX_SVC_OAUTH_PROMPT_NONE },
        { ngx_string("login"), NGX_SVC_OAUTH_PROMPT_LOGIN },
        { ngx_string("select_account"), NGX_SVC_OAUTH_PROMPT_LOGIN },
        { ngx_string("create"), NGX_SVC_OAUTH_PROMPT_CREATE
                                | NGX_SVC_OAUTH_PROMPT_LOGIN },
        { ngx_string("consent"), NGX_SVC_OAUTH_PROMPT_CONSENT }
    };

    for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (words[i].name.len == len
            && ngx_memcmp(words[i].name.data, p, len) == 0)
        {
            return words[i].prompt;
        }
    }

    return 0;
}


static ngx_int_t
ngx_svc_oauth_request_type(ngx_svc_oauth_request_t *ar, const ngx_str_t *value)
{
    if (value->data == NULL) {
        return ngx_svc_fail(&ar->error, NGX_SVC_E_INVALID_REQUEST,
                            "The parameter 'response_type' is missing.");
    }

    return ngx_strcmp(value->data, "code") == 0
           ? NGX_OK : ngx_svc_fail(&ar->error, NGX_SVC_E_RESPONSE_TYPE,
                                   "'response_type' must be 'code'.");
}


static ngx_int_t
ngx_svc_oauth_request_mode(ngx_svc_oauth_request_t *ar, const ngx_str_t *value)
{
    return value->data == NULL
           || ngx_svc_oauth_request_mode_of(value, &ar->mode) == NGX_OK
           ? NGX_OK : ngx_svc_fail(&ar->error, NGX_SVC_E_INVALID_REQUEST,
                                   "'response_mode' must be 'query', "
                                   "'fragment' or 'form_post'.");
}


static ngx_int_t
ngx_svc_oauth_request_mode_of(const ngx_str_t *value,
    ngx_svc_oauth_mode_e *mode)
{
    ngx_uint_t  i;

    static const char *const  modes[] = {
        [NGX_SVC_OAUTH_MODE_QUERY] = "query",
        [NGX_SVC_OAUTH_MODE_FRAGMENT] = "fragment",
        [NGX_SVC_OAUTH_MODE_FORM_POST] = "form_post"
    };

    for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        if (ngx_strcmp(value->data, modes[i]) == 0) {
            *mode = i;
            return NGX_OK;
        }
    }

    return NGX_DECLINED;
}


/*
 * A challenge without a method is a plain one (RFC 7636, 4.3), which is
 * refused.  A client that does without a challenge needs a state or a nonce, to
 * tell whose answer it gets (RFC 9700, 2.1.1); the statement tells whether it
 * may do without one.
 */

static ngx_int_t
ngx_svc_oauth_request_method(ngx_svc_oauth_request_t *ar,
    const ngx_str_t *value)
{
    if (ar->challenge.data) {
        return value->data && ngx_strcmp(value->data, "S256") == 0
               ? NGX_OK
               : ngx_svc_fail(&ar->error, NGX_SVC_E_INVALID_REQUEST,
                              "'code_challenge_method' must be 'S256'.");
    }

    if (value->data) {
        return ngx_svc_fail(&ar->error, NGX_SVC_E_INVALID_REQUEST,
                            "The parameter 'code_challenge' is missing.");
    }

    return ar->state.len || ar->nonce.len
           ? NGX_OK : ngx_svc_fail(&ar->error, NGX_SVC_E_INVALID_REQUEST,
                                   "The parameter 'code_challenge' is missing:"
                                   " 'nonce' or 'state' will do only where"
                                   " 'requirePkce' is false.");
}
