/*
 * How a user has signed in.
 */

#include "ngx_svc_oauth_amr.h"
#include "ngx_svc_federation_method.h"
#include "ngx_svc_methods.h"
#include "ngx_svc_signin.h"


/* Bits beside those of ngx_svc_method_proof_e: a passkey without a backup, */

#define NGX_SVC_OAUTH_HARDWARE       0x08

/* and the class that a client has asked for. */

#define NGX_SVC_OAUTH_ASKED_ONE      0x10
#define NGX_SVC_OAUTH_ASKED_TWO      0x20
#define NGX_SVC_OAUTH_ASKED_PASSKEY  0x40
#define NGX_SVC_OAUTH_ASKED          0x70


static void ngx_svc_oauth_amr_values(ngx_svc_json_writer_t *w,
    const ngx_str_t *methods);
static ngx_uint_t ngx_svc_oauth_amr_written(const ngx_str_t *methods,
    const ngx_svc_method_t *const *method);
static void ngx_svc_oauth_amr_value(ngx_svc_json_writer_t *w,
    const char *value);
static ngx_uint_t ngx_svc_oauth_amr_has(const ngx_str_t *methods,
    const ngx_str_t *name);
static ngx_uint_t ngx_svc_oauth_amr_next(const ngx_str_t *methods,
    ngx_str_t *name);
static ngx_uint_t ngx_svc_oauth_amr_proofs(const ngx_str_t *methods);
static ngx_uint_t ngx_svc_oauth_amr_proof(const ngx_str_t *name);


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
        { NGX_SVC_OAUTH_HARDWARE, 0, "hwk" },
        { NGX_SVC_METHOD_PASSKEY, NGX_SVC_OAUTH_HARDWARE, "swk" },
        { NGX_SVC_METHOD_PASSKEY, 0, "user" },
        { NGX_SVC_METHOD_PASSKEY, 0, "mfa" },
        { NGX_SVC_METHOD_PASSWORD|NGX_SVC_METHOD_CODE,
          NGX_SVC_METHOD_PASSKEY, "mfa" }
    };

    proofs = ngx_svc_oauth_amr_proofs(methods);

    ngx_svc_json_open(w, "amr", '[');
    ngx_svc_oauth_amr_values(w, methods);

    for (i = 0; i < sizeof(amr) / sizeof(amr[0]); i++) {
        if ((proofs & amr[i].proofs) == amr[i].proofs
            && !(proofs & amr[i].none))
        {
            ngx_svc_oauth_amr_value(w, amr[i].value);
        }
    }

    ngx_svc_json_close(w, ']');
}


/*
 * Writes each value of the session's methods once.  The table is gone through
 * from its end, as the password stands there, and its value comes first.
 */

static void
ngx_svc_oauth_amr_values(ngx_svc_json_writer_t *w, const ngx_str_t *methods)
{
    const ngx_svc_method_t *const  *method;

    for (method = ngx_svc_methods; *method; method++) { /* void */ }

    while (method-- != ngx_svc_methods) {

        if ((*method)->amr
            && ngx_svc_oauth_amr_has(methods, &(*method)->name)
            && !ngx_svc_oauth_amr_written(methods, method))
        {
            ngx_svc_oauth_amr_value(w, (*method)->amr);
        }
    }
}


/* Tells whether a method behind that one has had the same value written. */

static ngx_uint_t
ngx_svc_oauth_amr_written(const ngx_str_t *methods,
    const ngx_svc_method_t *const *method)
{
    const ngx_svc_method_t *const  *other;

    for (other = method + 1; *other; other++) {

        if ((*other)->amr && ngx_strcmp((*other)->amr, (*method)->amr) == 0
            && ngx_svc_oauth_amr_has(methods, &(*other)->name))
        {
            return 1;
        }
    }

    return 0;
}


static void
ngx_svc_oauth_amr_value(ngx_svc_json_writer_t *w, const char *value)
{
    ngx_svc_json_plain(w, NULL, (u_char *) value, ngx_strlen(value));
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

    if (proofs & NGX_SVC_METHOD_PASSKEY) {
        return passkey;
    }

    return (proofs & NGX_SVC_METHOD_PASSWORD)
           && (proofs & NGX_SVC_METHOD_CODE) ? two : one;
}


static ngx_uint_t
ngx_svc_oauth_amr_has(const ngx_str_t *methods, const ngx_str_t *name)
{
    ngx_str_t  next;

    ngx_str_null(&next);

    while (ngx_svc_oauth_amr_next(methods, &next)) {
        if (ngx_svc_same(&next, name)) {
            return 1;
        }
    }

    return 0;
}


static ngx_uint_t
ngx_svc_oauth_amr_proofs(const ngx_str_t *methods)
{
    ngx_str_t   name;
    ngx_uint_t  proofs;

    proofs = 0;
    ngx_str_null(&name);

    while (ngx_svc_oauth_amr_next(methods, &name)) {
        proofs |= ngx_svc_oauth_amr_proof(&name);
    }

    return proofs;
}


/*
 * Takes the name after that one, or the first one if it has no data, from an
 * array such as "{password,totp}".  Returns 0 when there is none.
 */

static ngx_uint_t
ngx_svc_oauth_amr_next(const ngx_str_t *methods, ngx_str_t *name)
{
    u_char  *p, *end;

    p = name->data ? name->data + name->len : methods->data;
    end = methods->data + methods->len;

    if (end - p < 2) {
        return 0;
    }

    name->data = ++p;       /* "{" or "," */

    while (p < end && *p != ',' && *p != '}') {
        p++;
    }

    name->len = p - name->data;

    return 1;
}


static ngx_uint_t
ngx_svc_oauth_amr_proof(const ngx_str_t *name)
{
    ngx_uint_t                      i;
    const ngx_svc_method_t *const  *method;

    static const struct {
        ngx_str_t   name;
        ngx_uint_t  proof;
    } others[] = {
        { ngx_string(NGX_SVC_SIGNIN_HARDWARE), NGX_SVC_OAUTH_HARDWARE },
        { ngx_string(NGX_SVC_FEDERATION_TWO),
          NGX_SVC_METHOD_PASSWORD|NGX_SVC_METHOD_CODE },
        { ngx_string(NGX_SVC_OAUTH_ACR_ONE), NGX_SVC_OAUTH_ASKED_ONE },
        { ngx_string(NGX_SVC_OAUTH_ACR_TWO), NGX_SVC_OAUTH_ASKED_TWO },
        { ngx_string(NGX_SVC_OAUTH_ACR_PASSKEY), NGX_SVC_OAUTH_ASKED_PASSKEY }
    };

    for (method = ngx_svc_methods; *method; method++) {
        if (ngx_svc_same(name, &(*method)->name)) {
            return (*method)->proof;
        }
    }

    for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (ngx_svc_same(name, &others[i].name)) {
            return others[i].proof;
        }
    }

    return 0;
}


ngx_int_t
ngx_svc_oauth_amr_methods(ngx_pool_t *pool, ngx_uint_t proof,
    ngx_str_t *methods)
{
    u_char                         *p;
    size_t                          len;
    const ngx_svc_method_t *const  *method;

    len = sizeof("{}");

    for (method = ngx_svc_methods; *method; method++) {
        len += (*method)->name.len + 1;
    }

    p = ngx_pnalloc(pool, len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    methods->data = p;
    *p++ = '{';

    for (method = ngx_svc_methods; *method; method++) {

        if ((ngx_uint_t) (*method)->proof != proof) {
            continue;
        }

        if (p - methods->data > 1) {
            *p++ = ',';
        }

        p = ngx_cpymem(p, (*method)->name.data, (*method)->name.len);
    }

    *p++ = '}';
    methods->len = p - methods->data;

    return NGX_OK;
}
