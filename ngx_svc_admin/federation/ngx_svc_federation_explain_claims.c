/*
 * What came in a test of a connection, and what was made of it.
 */

#include "ngx_svc_federation_explain_claims.h"
#include "ngx_svc_bidi.h"
#include "ngx_svc_json.h"
#include "ngx_svc_pg_array.h"
#include "ngx_svc_utf8.h"


#define NGX_SVC_FEDERATION_CLAIM_ROOM  6144     /* bytes of all of them */
#define NGX_SVC_FEDERATION_CLAIM       200      /* bytes of a value */
#define NGX_SVC_FEDERATION_CLAIM_NAME  64
#define NGX_SVC_FEDERATION_CLAIM_JSON  4096     /* bytes, before it is cut */
#define NGX_SVC_FEDERATION_GROUP_ROOM  2048     /* bytes of groups' names */


static void ngx_svc_federation_explain_object(ngx_svc_federation_explain_t *e,
    const cJSON *claims, size_t from);
static ngx_uint_t ngx_svc_federation_explain_secret(const cJSON *claim,
    const ngx_str_t *value);
static ngx_int_t ngx_svc_federation_explain_value(const cJSON *claim,
    const ngx_str_t *name, u_char *text, ngx_str_t *value);
static void ngx_svc_federation_explain_cut(ngx_svc_json_writer_t *w,
    const char *key, const ngx_str_t *text, size_t max);
static void ngx_svc_federation_explain_attribute(
    ngx_svc_federation_explain_t *e, const char *name, const ngx_str_t *claim,
    const ngx_str_t *value);


/* Nothing is shown of a token that is not known to be the issuer's. */

void
ngx_svc_federation_explain_claims(ngx_svc_federation_explain_t *e)
{
    size_t                      at;
    cJSON                      *profile;
    ngx_svc_error_t             err;
    ngx_svc_federation_flow_t  *flow;

    flow = e->flow;
    err.kind = NGX_SVC_E_NONE;
    profile = NULL;

    if (flow->profile.len
        && ngx_svc_json_parse(flow->login.sr->request->pool, &flow->profile,
                              &profile, &err)
           != NGX_OK)
    {
        profile = NULL;
    }

    ngx_svc_json_open(&e->w, "claims", '[');

    at = e->w.last - e->w.start;

    if (!e->hidden) {
        ngx_svc_federation_explain_object(e, flow->claims, at);
        ngx_svc_federation_explain_object(e, flow->userinfo, at);
        ngx_svc_federation_explain_object(e, profile, at);
    }

    ngx_svc_json_close(&e->w, ']');
}


/* What is left out for its length is so for good: the rest is not shown. */

static void
ngx_svc_federation_explain_object(ngx_svc_federation_explain_t *e,
    const cJSON *claims, size_t from)
{
    u_char        text[NGX_SVC_FEDERATION_CLAIM_JSON];
    ngx_str_t     name, value;
    const cJSON  *claim;

    cJSON_ArrayForEach(claim, claims) {

        name.data = (u_char *) claim->string;
        name.len = ngx_strlen(name.data);

        if (e->w.failed
            || (size_t) (e->w.last - e->w.start) - from
               > NGX_SVC_FEDERATION_CLAIM_ROOM)
        {
            return;
        }

        if (ngx_svc_federation_explain_value(claim, &name, text, &value)
            != NGX_OK
            || ngx_svc_federation_explain_secret(claim, &value))
        {
            continue;
        }

        ngx_svc_json_open(&e->w, NULL, '{');
        ngx_svc_federation_explain_cut(&e->w, "name", &name,
                                       NGX_SVC_FEDERATION_CLAIM_NAME);
        ngx_svc_federation_explain_cut(&e->w, "value", &value,
                                       NGX_SVC_FEDERATION_CLAIM);
        ngx_svc_json_close(&e->w, '}');
    }
}


/* What binds a token to a session, and anything that looks like a token. */

static ngx_uint_t
ngx_svc_federation_explain_secret(const cJSON *claim, const ngx_str_t *value)
{
    ngx_uint_t  i;

    static const char *const  names[] = {
        "nonce", "at_hash", "c_hash", "s_hash", "jti", "sid"
    };
    static const char *const  parts[] = { "token", "secret", "password" };

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (ngx_strcmp(claim->string, names[i]) == 0) {
            return 1;
        }
    }

    for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (ngx_strcasestrn((u_char *) claim->string, (char *) parts[i],
                            ngx_strlen(parts[i]) - 1))
        {
            return 1;
        }
    }

    return ngx_strnstr(value->data, "eyJ", value->len) != NULL;
}


/*
 * What has a text look like another one is not shown.  Returns NGX_OK, or
 * NGX_DECLINED when the claim is no UTF-8, or has such a name.
 */

static ngx_int_t
ngx_svc_federation_explain_value(const cJSON *claim, const ngx_str_t *name,
    u_char *text, ngx_str_t *value)
{
    if (cJSON_IsString(claim)) {
        value->data = (u_char *) claim->valuestring;

    } else if (cJSON_PrintPreallocated((cJSON *) claim, (char *) text,
                                       NGX_SVC_FEDERATION_CLAIM_JSON, 0))
    {
        value->data = text;

    } else {
        value->data = (u_char *) "...";
    }

    value->len = ngx_strlen(value->data);

    if (ngx_svc_utf8(value->data, value->len) != NGX_OK
        || ngx_svc_utf8(name->data, name->len) != NGX_OK
        || ngx_svc_bidi(name))
    {
        return NGX_DECLINED;
    }

    if (ngx_svc_bidi(value)) {
        ngx_str_set(value, "...");
    }

    return NGX_OK;
}


static void
ngx_svc_federation_explain_cut(ngx_svc_json_writer_t *w, const char *key,
    const ngx_str_t *text, size_t max)
{
    size_t  len;

    len = text->len;

    if (len > max) {
        for (len = max; len && (text->data[len] & 0xc0) == 0x80; len--) {
            /* void */
        }
    }

    ngx_svc_json_string_begin(w, key);
    ngx_svc_json_string_append(w, text->data, len);

    if (len < text->len) {
        ngx_svc_json_string_append(w, (u_char *) "...", 3);
    }

    ngx_svc_json_string_end(w);
}


void
ngx_svc_federation_explain_attributes(ngx_svc_federation_explain_t *e)
{
    ngx_str_t                    names[NGX_SVC_ATTRIBUTES];
    ngx_uint_t                   i;
    ngx_svc_federation_proof_t  *proof;

    proof = &e->flow->proof;

    ngx_svc_json_open(&e->w, "attributes", '[');

    if (e->found && !e->hidden
        && ngx_svc_attribute_map_read(e->flow->login.sr->request->pool,
                                      &e->flow->connection.mapping, names)
           == NGX_OK)
    {
        for (i = 0; i < NGX_SVC_ATTRIBUTES; i++) {
            if (names[i].len
                && ngx_strcmp(ngx_svc_attribute_keys[i], "email") != 0)
            {
                ngx_svc_federation_explain_attribute(e,
                                                     ngx_svc_attribute_keys[i],
                                                     &names[i],
                                                     &proof->attributes[i]);
            }
        }
    }

    ngx_svc_json_close(&e->w, ']');
}


static void
ngx_svc_federation_explain_attribute(ngx_svc_federation_explain_t *e,
    const char *name, const ngx_str_t *claim, const ngx_str_t *value)
{
    ngx_svc_json_open(&e->w, NULL, '{');
    ngx_svc_json_plain(&e->w, "attribute", (u_char *) name, ngx_strlen(name));
    ngx_svc_federation_explain_cut(&e->w, "claim", claim,
                                   NGX_SVC_FEDERATION_CLAIM_NAME);

    if (value->data) {
        ngx_svc_federation_explain_cut(&e->w, "value", value,
                                       NGX_SVC_FEDERATION_CLAIM);
    } else {
        ngx_svc_json_null(&e->w, "value");
    }

    ngx_svc_json_close(&e->w, '}');
}


void
ngx_svc_federation_explain_groups(ngx_svc_federation_explain_t *e)
{
    size_t              at;
    ngx_uint_t          i;
    ngx_svc_pg_array_t  groups;

    ngx_svc_json_open(&e->w, "groups", '[');

    at = e->w.last - e->w.start;

    if (e->found && !e->hidden && e->found->settings.manages
        && ngx_svc_pg_array_read(e->flow->login.sr->request->pool,
                                 &e->found->settings.groups, &groups)
           == NGX_OK)
    {
        for (i = 0; i < groups.n; i++) {
            if ((size_t) (e->w.last - e->w.start) - at
                > NGX_SVC_FEDERATION_GROUP_ROOM)
            {
                break;
            }

            ngx_svc_federation_explain_cut(&e->w, NULL, &groups.elts[i],
                                           NGX_SVC_FEDERATION_CLAIM);
        }
    }

    ngx_svc_json_close(&e->w, ']');
}
