/*
 * The options that a browser is given (WebAuthn Level 3, 5.1.9 and 5.1.10).
 */

#include "ngx_svc_webauthn_options.h"
#include "ngx_svc_base64.h"


#define NGX_SVC_WEBAUTHN_HANDLE_MAX  64     /* bytes: WebAuthn 3, 5.4.3 */

#define ngx_svc_webauthn_word(w, key, word)                                   \
    ngx_svc_json_plain(w, key, (u_char *) (word), sizeof(word) - 1)


static void ngx_svc_webauthn_user(ngx_svc_json_writer_t *w,
    const ngx_svc_webauthn_user_t *user);
static void ngx_svc_webauthn_algs_write(ngx_svc_json_writer_t *w);
static void ngx_svc_webauthn_asked(ngx_svc_json_writer_t *w,
    const u_char *challenge);
static void ngx_svc_webauthn_passkeys(ngx_svc_json_writer_t *w,
    const char *key, const ngx_svc_passkey_t *passkeys, ngx_uint_t n);


/* In the order of preference. */

static const int  ngx_svc_webauthn_offered[] = {
    NGX_SVC_PASSKEY_ES256,
    NGX_SVC_PASSKEY_EDDSA,
    NGX_SVC_PASSKEY_ES384,
    NGX_SVC_PASSKEY_RS256
};


void
ngx_svc_webauthn_creation_options(ngx_svc_json_writer_t *w, const char *key,
    const ngx_svc_webauthn_ceremony_t *ceremony,
    const u_char challenge[NGX_SVC_WEBAUTHN_CHALLENGE_LEN],
    const ngx_svc_webauthn_user_t *user, const ngx_svc_passkey_t *passkeys,
    ngx_uint_t n)
{
    ngx_svc_json_open(w, key, '{');

    ngx_svc_json_open(w, "rp", '{');
    ngx_svc_json_string(w, "id", ceremony->rp_id.data, ceremony->rp_id.len);
    ngx_svc_json_string(w, "name", user->site.data, user->site.len);
    ngx_svc_json_close(w, '}');

    ngx_svc_webauthn_user(w, user);
    ngx_svc_webauthn_asked(w, challenge);
    ngx_svc_webauthn_algs_write(w);
    ngx_svc_webauthn_passkeys(w, "excludeCredentials", passkeys, n);

    ngx_svc_json_open(w, "authenticatorSelection", '{');
    ngx_svc_webauthn_word(w, "residentKey", "required");
    ngx_svc_json_boolean(w, "requireResidentKey", 1);
    ngx_svc_webauthn_word(w, "userVerification", "required");
    ngx_svc_json_close(w, '}');

    ngx_svc_webauthn_word(w, "attestation", "none");

    ngx_svc_json_close(w, '}');
}


void
ngx_svc_webauthn_request_options(ngx_svc_json_writer_t *w, const char *key,
    const ngx_svc_webauthn_ceremony_t *ceremony,
    const u_char challenge[NGX_SVC_WEBAUTHN_CHALLENGE_LEN],
    const ngx_svc_passkey_t *passkeys, ngx_uint_t n)
{
    ngx_svc_json_open(w, key, '{');

    ngx_svc_webauthn_asked(w, challenge);
    ngx_svc_json_string(w, "rpId", ceremony->rp_id.data, ceremony->rp_id.len);
    ngx_svc_webauthn_passkeys(w, "allowCredentials", passkeys, n);
    ngx_svc_webauthn_word(w, "userVerification", "required");

    ngx_svc_json_close(w, '}');
}


static void
ngx_svc_webauthn_user(ngx_svc_json_writer_t *w,
    const ngx_svc_webauthn_user_t *user)
{
    u_char           *end;
    u_char            handle[ngx_svc_base64url_len(
                                                NGX_SVC_WEBAUTHN_HANDLE_MAX)];
    const ngx_str_t  *name;

    end = ngx_svc_base64url(handle, user->handle.data,
                            ngx_min(user->handle.len,
                                    NGX_SVC_WEBAUTHN_HANDLE_MAX));

    name = user->display_name.len ? &user->display_name : &user->name;

    ngx_svc_json_open(w, "user", '{');
    ngx_svc_json_plain(w, "id", handle, end - handle);
    ngx_svc_json_string(w, "name", user->name.data, user->name.len);
    ngx_svc_json_string(w, "displayName", name->data, name->len);
    ngx_svc_json_close(w, '}');
}


static void
ngx_svc_webauthn_asked(ngx_svc_json_writer_t *w, const u_char *challenge)
{
    u_char  text[ngx_svc_base64url_len(NGX_SVC_WEBAUTHN_CHALLENGE_LEN)];

    (void) ngx_svc_base64url(text, challenge, NGX_SVC_WEBAUTHN_CHALLENGE_LEN);

    ngx_svc_json_plain(w, "challenge", text, sizeof(text));
    ngx_svc_json_integer(w, "timeout", NGX_SVC_WEBAUTHN_TIMEOUT);
}


static void
ngx_svc_webauthn_algs_write(ngx_svc_json_writer_t *w)
{
    ngx_uint_t  i;

    ngx_svc_json_open(w, "pubKeyCredParams", '[');

    for (i = 0; i < sizeof(ngx_svc_webauthn_offered) / sizeof(int); i++) {
        ngx_svc_json_open(w, NULL, '{');
        ngx_svc_webauthn_word(w, "type", "public-key");
        ngx_svc_json_integer(w, "alg", ngx_svc_webauthn_offered[i]);
        ngx_svc_json_close(w, '}');
    }

    ngx_svc_json_close(w, ']');
}


static void
ngx_svc_webauthn_passkeys(ngx_svc_json_writer_t *w, const char *key,
    const ngx_svc_passkey_t *passkeys, ngx_uint_t n)
{
    ngx_uint_t  i;

    ngx_svc_json_open(w, key, '[');

    for (i = 0; i < n; i++) {
        ngx_svc_passkey_descriptor(w, &passkeys[i]);
    }

    ngx_svc_json_close(w, ']');
}
