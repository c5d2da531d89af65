/*
 * A proof that its flow keeps.
 */

#include "ngx_svc_federation_keep.h"
#include "ngx_svc_base64.h"
#include "ngx_svc_federation_answer.h"
#include "ngx_svc_federation_match.h"
#include "ngx_svc_federation_match.row.h"
#include "ngx_svc_federation_proof.h"
#include "ngx_svc_federation_take.h"
#include "ngx_svc_login_read.h"
#include "ngx_svc_login_write.h"
#include "ngx_svc_profile.h"
#include "ngx_svc_sealed.h"


static ngx_int_t ngx_svc_federation_keep_calls(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_keep_reply(ngx_svc_request_t *sr);
static void ngx_svc_federation_keep_names(ngx_svc_federation_flow_t *flow);
static ngx_int_t ngx_svc_federation_keep_seal(ngx_svc_federation_flow_t *flow);
static void ngx_svc_federation_keep_text(ngx_svc_federation_flow_t *flow,
    ngx_svc_json_writer_t *w);
static void ngx_svc_federation_keep_sid(ngx_svc_federation_flow_t *flow,
    ngx_svc_json_writer_t *w);
static ngx_int_t ngx_svc_federation_keep_write(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_keep_lead(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_federation_kept_proof(ngx_svc_federation_flow_t *flow,
    const cJSON *json);
static ngx_int_t ngx_svc_federation_kept_sid(ngx_svc_federation_flow_t *flow,
    const cJSON *json);


#define ngx_svc_federation_keep_field(name, field)                            \
    { name, offsetof(ngx_svc_federation_flow_t, field) }

#define ngx_svc_federation_keep_attribute(name, attribute)                    \
    ngx_svc_federation_keep_field(name,                                       \
                           proof.attributes[NGX_SVC_ATTRIBUTE_##attribute])

static const struct {
    const char  *name;
    size_t       offset;        /* of an ngx_str_t */
} ngx_svc_federation_keep_texts[] = {
    ngx_svc_federation_keep_field("subject", proof.subject),
    ngx_svc_federation_keep_field("email", proof.email),
    ngx_svc_federation_keep_field("domain", proof.domain),
    ngx_svc_federation_keep_field("firstName", proof.first_name),
    ngx_svc_federation_keep_field("lastName", proof.last_name),
    ngx_svc_federation_keep_field("displayName", proof.display_name),
    ngx_svc_federation_keep_field("acr", proof.acr),
    ngx_svc_federation_keep_field("authTime", proof.auth_time),
    ngx_svc_federation_keep_field("facts", facts),
    ngx_svc_federation_keep_field("groups", proof.groups),
    ngx_svc_federation_keep_attribute("mappedFirst", FIRST_NAME),
    ngx_svc_federation_keep_attribute("mappedLast", LAST_NAME),
    ngx_svc_federation_keep_attribute("mappedDisplay", DISPLAY_NAME),
    ngx_svc_federation_keep_attribute("title", TITLE),
    ngx_svc_federation_keep_attribute("department", DEPARTMENT),
    ngx_svc_federation_keep_attribute("locale", LOCALE),
    ngx_svc_federation_keep_attribute("externalId", EXTERNAL_ID),
    { NULL, 0 }
};

static const struct {
    const char  *name;
    size_t       offset;        /* of an ngx_uint_t */
} ngx_svc_federation_keep_flags[] = {
    ngx_svc_federation_keep_field("verified", proof.verified),
    ngx_svc_federation_keep_field("proved", proved),
    ngx_svc_federation_keep_field("mailable", mailable),
    ngx_svc_federation_keep_field("factor", login.written.factor),
    { NULL, 0 }
};

/* Another version of ours may read them: numbers would mean something else. */

static const char *const  ngx_svc_federation_keep_matches[] = {
    [NGX_SVC_FEDERATION_OTHER] = "other",
    [NGX_SVC_FEDERATION_LINKED] = "linked",
    [NGX_SVC_FEDERATION_INACTIVE] = "inactive",
    [NGX_SVC_FEDERATION_UNCOVERED] = "uncovered",
    [NGX_SVC_FEDERATION_UNVERIFIED] = "unverified",
    [NGX_SVC_FEDERATION_FORCED] = "forced",
    [NGX_SVC_FEDERATION_HELD] = "held",
    [NGX_SVC_FEDERATION_LINK] = "link",
    [NGX_SVC_FEDERATION_NEW] = "new",
    [NGX_SVC_FEDERATION_NOBODY] = "nobody",
    [NGX_SVC_FEDERATION_CONFLICT] = "conflict",
    [NGX_SVC_FEDERATION_STRANGER] = "stranger",
    [NGX_SVC_FEDERATION_INVITED] = "invited",
    [NGX_SVC_FEDERATION_MISMATCH] = "mismatch",
    [NGX_SVC_FEDERATION_UNINVITED] = "uninvited",
    [NGX_SVC_FEDERATION_MATCHES] = NULL
};


#include "ngx_svc_federation_keep.sql.h"


ngx_int_t
ngx_svc_federation_keep(ngx_svc_federation_flow_t *flow)
{
    return ngx_svc_request_again(flow->login.sr, NGX_SVC_PG_READ,
                                 ngx_svc_federation_keep_calls,
                                 ngx_svc_federation_keep_reply);
}


static ngx_int_t
ngx_svc_federation_keep_calls(ngx_svc_request_t *sr)
{
    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_signin_tenant,
        &ngx_svc_sql_federation_match,
        &ngx_svc_sql_federation_user,
        NULL
    };

    return ngx_svc_login_calls(sr, list);
}


static ngx_int_t
ngx_svc_federation_keep_reply(ngx_svc_request_t *sr)
{
    ngx_int_t                       rc;
    ngx_svc_federation_flow_t      *flow;
    ngx_svc_row_federation_user_t   row;

    flow = sr->data;
    ngx_svc_row_federation_user(&row,
                         ngx_svc_result(sr, &ngx_svc_sql_federation_user), 0);

    ngx_svc_federation_keep_names(flow);

    rc = ngx_svc_login_tenant(&flow->login,
                              ngx_svc_result(sr, &ngx_svc_sql_signin_tenant));

    if (rc == NGX_OK
        && (ngx_svc_login_copy(&flow->login, &flow->found, row.login_user.id)
            != NGX_OK
            || ngx_svc_federation_match(flow) != NGX_OK))
    {
        rc = NGX_ERROR;
    }

    if (rc == NGX_OK) {
        rc = ngx_svc_federation_keep_seal(flow);

        if (rc == NGX_DECLINED) {
            rc = ngx_svc_federation_fail(flow, "the proof is too long");
        }
    }

    return rc == NGX_OK
           ? ngx_svc_request_again(sr, NGX_SVC_PG_WRITE,
                                   ngx_svc_federation_keep_write,
                                   ngx_svc_federation_keep_lead)
           : ngx_svc_federation_declined(sr, rc);
}


/*
 * Apple tells a person's name beside the code, once, and does not sign it: it
 * names a new user, and nothing else.
 */

static void
ngx_svc_federation_keep_names(ngx_svc_federation_flow_t *flow)
{
    cJSON            *json;
    const cJSON      *name;
    ngx_svc_error_t   err;

    err.kind = NGX_SVC_E_NONE;

    if (flow->user.len == 0
        || ngx_svc_json_parse(flow->login.sr->request->pool, &flow->user,
                              &json, &err)
           != NGX_OK)
    {
        return;
    }

    name = cJSON_GetObjectItemCaseSensitive(json, "name");

    ngx_svc_federation_proof_text(name, "firstName", NGX_SVC_PROFILE_MAX,
                                  &flow->proof.first_name);
    ngx_svc_federation_proof_text(name, "lastName", NGX_SVC_PROFILE_MAX,
                                  &flow->proof.last_name);
}


ngx_int_t
ngx_svc_federation_keep_mailable(ngx_svc_federation_flow_t *flow)
{
    u_char     *p;
    ngx_int_t   rc;

    p = ngx_pnalloc(flow->login.sr->request->pool, NGX_SVC_UUID_TEXT_LEN);
    if (p == NULL) {
        return NGX_ERROR;
    }

    flow->found.data = p;
    flow->found.len = ngx_svc_uuid_text(p, flow->login.row.user) - p;

    rc = ngx_svc_federation_keep_seal(flow);

    if (rc == NGX_OK) {
        flow->keeps = &ngx_svc_sql_federation_keep;
    }

    return rc == NGX_DECLINED ? NGX_OK : rc;
}


/* Returns NGX_DECLINED for a proof that is too long. */

static ngx_int_t
ngx_svc_federation_keep_seal(ngx_svc_federation_flow_t *flow)
{
    u_char                  id[NGX_SVC_UUID_TEXT_LEN];
    ngx_str_t               text, name;
    ngx_pool_t             *pool;
    ngx_svc_json_writer_t   w;

    pool = flow->login.sr->request->pool;

    if (ngx_svc_json_writer_init(&w, pool, 1024) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_federation_keep_text(flow, &w);

    text.data = w.start;
    text.len = w.last - w.start;
    name.data = id;
    name.len = ngx_svc_uuid_text(id, flow->id.data) - id;

    if (!w.failed && text.len > NGX_SVC_SEALED_TEXT) {
        return NGX_DECLINED;
    }

    flow->kept.data = ngx_pnalloc(pool, text.len + NGX_SVC_SEAL_OVERHEAD);

    return !w.failed && flow->kept.data
           && ngx_svc_federation_flow_renew(flow) == NGX_OK
           ? ngx_svc_sealed_seal("federation", &name, &text, flow->kept.data,
                                 &flow->kept.len)
           : NGX_ERROR;
}


static void
ngx_svc_federation_keep_text(ngx_svc_federation_flow_t *flow,
    ngx_svc_json_writer_t *w)
{
    u_char      *match;
    ngx_str_t   *field;
    ngx_uint_t   i;

    match = (u_char *) ngx_svc_federation_keep_matches[flow->match];

    ngx_svc_json_open(w, NULL, '{');
    ngx_svc_json_plain(w, "match", match, ngx_strlen(match));

    for (i = 0; ngx_svc_federation_keep_texts[i].name; i++) {
        field = (ngx_str_t *) ((u_char *) flow
                               + ngx_svc_federation_keep_texts[i].offset);

        if (field->data) {
            ngx_svc_json_string(w, ngx_svc_federation_keep_texts[i].name,
                                field->data, field->len);
        }
    }

    for (i = 0; ngx_svc_federation_keep_flags[i].name; i++) {
        ngx_svc_json_boolean(w, ngx_svc_federation_keep_flags[i].name,
                        *(ngx_uint_t *) ((u_char *) flow
                                  + ngx_svc_federation_keep_flags[i].offset));
    }

    ngx_svc_federation_keep_sid(flow, w);
    ngx_svc_json_close(w, '}');
}


static void
ngx_svc_federation_keep_sid(ngx_svc_federation_flow_t *flow,
    ngx_svc_json_writer_t *w)
{
    u_char  text[ngx_svc_base64url_len(NGX_SVC_SHA256_LEN)];

    if (flow->proof.sid.data) {
        ngx_svc_json_plain(w, "sid", text,
                           ngx_svc_base64url(text, flow->proof.sid.data,
                                             NGX_SVC_SHA256_LEN)
                           - text);
    }
}


static ngx_int_t
ngx_svc_federation_keep_write(ngx_svc_request_t *sr)
{
    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_signin_tenant_write,
        &ngx_svc_sql_federation_keep,
        NULL
    };

    return ngx_svc_login_calls(sr, list);
}


/*
 * The cookie is not sent with a form of another site, but it is from here on.
 */

static ngx_int_t
ngx_svc_federation_keep_lead(ngx_svc_request_t *sr)
{
    ngx_str_t                   location;
    ngx_svc_federation_flow_t  *flow;

    static const ngx_str_t  finish = ngx_string(NGX_SVC_FEDERATION_FINISH);

    flow = sr->data;

    if (PQntuples(ngx_svc_result(sr, &ngx_svc_sql_federation_keep)) == 0) {
        return ngx_svc_federation_declined(sr, ngx_svc_federation_over(sr));
    }

    location.len = finish.len + flow->state.len;
    location.data = ngx_pnalloc(sr->request->pool, location.len);

    if (location.data == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    (void) ngx_sprintf(location.data, "%V%V", &finish, &flow->state);

    return ngx_svc_send_see_other(sr, &location);
}


ngx_int_t
ngx_svc_federation_kept(ngx_svc_federation_flow_t *flow)
{
    cJSON            *json;
    ngx_uint_t        i;
    const cJSON      *word;
    ngx_svc_error_t   err;

    err.kind = NGX_SVC_E_NONE;

    if (ngx_svc_json_parse(flow->login.sr->request->pool, &flow->kept, &json,
                           &err)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    word = cJSON_GetObjectItemCaseSensitive(json, "match");

    for (i = 0; cJSON_IsString(word) && ngx_svc_federation_keep_matches[i];
         i++)
    {
        if (ngx_strcmp(word->valuestring, ngx_svc_federation_keep_matches[i])
            == 0)
        {
            flow->match = i;
            return ngx_svc_federation_kept_proof(flow, json);
        }
    }

    return ngx_svc_federation_over(flow->login.sr);
}


static ngx_int_t
ngx_svc_federation_kept_proof(ngx_svc_federation_flow_t *flow,
    const cJSON *json)
{
    ngx_str_t    *field;
    ngx_uint_t    i, *flag;
    const cJSON  *item;

    for (i = 0; ngx_svc_federation_keep_texts[i].name; i++) {
        item = cJSON_GetObjectItemCaseSensitive(json,
                                       ngx_svc_federation_keep_texts[i].name);
        field = (ngx_str_t *) ((u_char *) flow
                               + ngx_svc_federation_keep_texts[i].offset);

        if (cJSON_IsString(item)) {
            field->data = (u_char *) item->valuestring;
            field->len = ngx_strlen(field->data);
        }
    }

    for (i = 0; ngx_svc_federation_keep_flags[i].name; i++) {
        flag = (ngx_uint_t *) ((u_char *) flow
                               + ngx_svc_federation_keep_flags[i].offset);
        *flag = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json,
                                      ngx_svc_federation_keep_flags[i].name));
    }

    return ngx_svc_federation_proof_subject(flow, &flow->proof.subject)
           == NGX_OK ? ngx_svc_federation_kept_sid(flow, json) : NGX_ERROR;
}


static ngx_int_t
ngx_svc_federation_kept_sid(ngx_svc_federation_flow_t *flow,
    const cJSON *json)
{
    size_t        len;
    const cJSON  *sid;

    sid = cJSON_GetObjectItemCaseSensitive(json, "sid");

    if (!cJSON_IsString(sid)) {
        return NGX_OK;
    }

    flow->proof.sid.len = NGX_SVC_SHA256_LEN;
    flow->proof.sid.data = ngx_pnalloc(flow->login.sr->request->pool,
                                       NGX_SVC_SHA256_LEN + 3);

    return flow->proof.sid.data
           && ngx_svc_base64url_decode((u_char *) sid->valuestring,
                                       ngx_strlen(sid->valuestring),
                                       flow->proof.sid.data, &len)
              == NGX_OK
           ? NGX_OK : NGX_ERROR;
}
