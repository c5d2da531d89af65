/*
 * How a user has signed in.
 */

#include "ngx_svc_oauth_amr.h"
#include "ngx_svc_signin.h"


/* What a user has presented to sign in. */

#define NGX_SVC_OAUTH_PASSWORD      0x01
#define NGX_SVC_OAUTH_CODE_SHOWN    0x02
#define NGX_SVC_OAUTH_PASSKEY       0x04
#define NGX_SVC_OAUTH_HARDWARE      0x08    /* passkey: cannot be backed up */

/* The class that a client has asked for. */

#define NGX_SVC_OAUTH_ASKED_ONE      0x10
#define NGX_SVC_OAUTH_ASKED_TWO      0x20
#define NGX_SVC_OAUTH_ASKED_PASSKEY  0x40
#define NGX_SVC_OAUTH_ASKED          0x70


static ngx_uint_t ngx_svc_oauth_amr_proofs(const ngx_str_t *methods);


/*
 * Writes the values of RFC 8176.  The user is verified with each passkey, so a
 * passkey alone is two factors; two codes are one.  Older sessions do not tell
 * which kind a passkey was: it counts as one that can be backed up.
 */

void
ngx_svc_oauth_amr(ngx_svc_json_writer_t *w, const ngx_str_t *methods)
{
    ngx_uint_t  i, proofs;

    static const struct {
        ngx_uint_t   proofs;        /* all of these are needed */
        ngx_uint_t   none;          /* none of these may be there */
        const char  *value;
    } amr[] = {
        { NGX_SVC_OAUTH_PASSWORD, 0, "pwd" },
        { NGX_SVC_OAUTH_CODE_SHOWN, 0, "otp" },
        { NGX_SVC_OAUTH_HARDWARE, 0, "hwk" },
        { NGX_SVC_OAUTH_PASSKEY, NGX_SVC_OAUTH_HARDWARE, "swk" },
        { NGX_SVC_OAUTH_PASSKEY, 0, "user" },
        { NGX_SVC_OAUTH_PASSKEY, 0, "mfa" },
        { NGX_SVC_OAUTH_PASSWORD|NGX_SVC_OAUTH_CODE_SHOWN,
          NGX_SVC_OAUTH_PASSKEY, "mfa" }
    };

    proofs = ngx_svc_oauth_amr_proofs(methods);

    ngx_svc_json_open(w, "amr", '[');

    for (i = 0; i < sizeof(amr) / sizeof(amr[0]); i++) {
        if ((proofs & amr[i].proofs) == amr[i].proofs
            && !(proofs & amr[i].none))
        {
            ngx_svc_json_plain(w, NULL, (u_char *) amr[i].value,
                               ngx_strlen(amr[i].value));
        }
    }

    ngx_svc_json_close(w, ']');
}


ngx_str_t
ngx_svc_oauth_acr(const ngx_str_t *methods)
{
    ngx_uint_t  proofs;

    static const ngx_str_t  one = ngx_string(NGX_SVC_OAUTH_ACR_ONE);
    static const ngx_str_t  two = ngx_string(NGX_SVC_OAUTH_ACR_TWO);
    static const ngx_str_t  passkey = ngx_string(NGX_SVC_OAUTH_ACR_PASSKEY);

    proofs = ngx_svc_oauth_amr_proofs(methods);

    if (proofs & NGX_SVC_OAUTH_ASKED) {
        return (proofs & NGX_SVC_OAUTH_ASKED_PASSKEY)
               ? passkey : (proofs & NGX_SVC_OAUTH_ASKED_TWO) ? two : one;
    }

    if (proofs & NGX_SVC_OAUTH_PASSKEY) {
        return passkey;
    }

    return (proofs & NGX_SVC_OAUTH_PASSWORD)
           && (proofs & NGX_SVC_OAUTH_CODE_SHOWN) ? two : one;
}


static ngx_uint_t
ngx_svc_oauth_amr_proofs(const ngx_str_t *methods)
{
    u_char      *p, *end, *start;
    ngx_uint_t   i, proofs;

    static const struct {
        ngx_str_t   method;
        ngx_uint_t  proof;
    } shown[] = {
        { ngx_string("password"), NGX_SVC_OAUTH_PASSWORD },
        { ngx_string("totp"), NGX_SVC_OAUTH_CODE_SHOWN },
        { ngx_string("email"), NGX_SVC_OAUTH_CODE_SHOWN },
        { ngx_string("recovery"), NGX_SVC_OAUTH_CODE_SHOWN },
        { ngx_string("passkey"), NGX_SVC_OAUTH_PASSKEY },
        { ngx_string(NGX_SVC_SIGNIN_HARDWARE), NGX_SVC_OAUTH_HARDWARE },
        { ngx_string(NGX_SVC_OAUTH_ACR_ONE), NGX_SVC_OAUTH_ASKED_ONE },
        { ngx_string(NGX_SVC_OAUTH_ACR_TWO), NGX_SVC_OAUTH_ASKED_TWO },
        { ngx_string(NGX_SVC_OAUTH_ACR_PASSKEY), NGX_SVC_OAUTH_ASKED_PASSKEY }
    };

    proofs = 0;
    p = methods->data;
    end = p + methods->len;

    if (p < end) {
        p++;        /* "{" */
    }

    while (p < end) {
        start = p;

        while (p < end && *p != ',' && *p != '}') {
            p++;
        }

        for (i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
            if (shown[i].method.len == (size_t) (p - start)
                && ngx_memcmp(shown[i].method.data, start, p - start) == 0)
            {
                proofs |= shown[i].proof;
            }
        }

        p++;
    }

    return proofs;
}
