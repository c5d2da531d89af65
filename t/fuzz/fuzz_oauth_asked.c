/*
 * The parameter "claims": an accepted one is a JSON object for cJSON, too, asks
 * only for what is in it, and comes back unchanged from the grant.
 */

#include "ngx_fuzz.h"
#include "ngx_svc_oauth_asked.h"
#include "ngx_svc_oauth_claims_kept.h"


static void fuzz_place(const cJSON *json, const char *name, ngx_uint_t bits);
static void fuzz_subject(const cJSON *json, const ngx_str_t *subject);
static void fuzz_kept(ngx_pool_t *pool, const ngx_svc_oauth_asked_t *asked);


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cJSON                  *json;
    ngx_int_t               rc;
    ngx_str_t               text;
    ngx_pool_t             *pool;
    ngx_svc_error_t         err;
    ngx_svc_oauth_asked_t   asked;

    pool = fuzz_pool(1024);

    text.data = malloc(size ? size : 1);
    fuzz_assert(text.data != NULL);

    memcpy(text.data, data, size);
    text.len = size;
    err.kind = NGX_SVC_E_NONE;

    rc = ngx_svc_oauth_asked(pool, &text, &asked, &err);

    fuzz_assert(memcmp(text.data, data, size) == 0);
    fuzz_assert((rc == NGX_OK) == (err.kind == NGX_SVC_E_NONE));

    if (rc == NGX_OK) {
        fuzz_assert(size <= NGX_SVC_OAUTH_ASKED_MAX);

        json = cJSON_ParseWithLength((char *) data, size);
        fuzz_assert(cJSON_IsObject(json));

        fuzz_place(json, "id_token", asked.id_token);
        fuzz_place(json, "userinfo", asked.userinfo);
        fuzz_subject(json, &asked.subject);
        fuzz_kept(pool, &asked);

        fuzz_assert(asked.acr || !asked.acr_needed);

        cJSON_Delete(json);

    } else {
        fuzz_assert(rc == NGX_DECLINED
                    && err.kind == NGX_SVC_E_INVALID_REQUEST);
    }

    free(text.data);
    ngx_destroy_pool(pool);

    return 0;
}


/* Each bit is a member that is there, and each known member is a bit. */

static void
fuzz_place(const cJSON *json, const char *name, ngx_uint_t bits)
{
    ngx_uint_t    i;
    const cJSON  *place, *claim;

    place = cJSON_GetObjectItemCaseSensitive(json, name);

    for (i = 0; i < NGX_SVC_OAUTH_CLAIMS_N; i++) {
        claim = cJSON_GetObjectItemCaseSensitive(place,
                            (char *) ngx_svc_oauth_claim_table[i].name.data);

        fuzz_assert((claim != NULL) == ((bits >> i) & 1));
        fuzz_assert(claim == NULL || cJSON_IsNull(claim)
                    || cJSON_IsObject(claim));
    }

    fuzz_assert(bits >> NGX_SVC_OAUTH_CLAIMS_N == 0);
}


static void
fuzz_subject(const cJSON *json, const ngx_str_t *subject)
{
    ngx_uint_t    i;
    const cJSON  *value;

    static const char *const  places[] = { "id_token", "userinfo" };

    for (i = 0; i < 2; i++) {
        value = cJSON_GetObjectItemCaseSensitive(json, places[i]);
        value = cJSON_GetObjectItemCaseSensitive(value, "sub");
        value = cJSON_GetObjectItemCaseSensitive(value, "value");

        fuzz_assert(value == NULL
                    || (subject->data
                        && strcmp(value->valuestring, (char *) subject->data)
                           == 0));
    }
}


static void
fuzz_kept(ngx_pool_t *pool, const ngx_svc_oauth_asked_t *asked)
{
    ngx_str_t           text, scope;
    ngx_uint_t          i, id_token, userinfo;
    ngx_svc_pg_array_t  array;

    fuzz_assert(ngx_svc_oauth_claims_keep(pool, asked->id_token,
                                          asked->userinfo, &text)
                == NGX_OK);
    fuzz_assert(ngx_svc_pg_array_read(pool, &text, &array) == NGX_OK);

    id_token = 0;
    userinfo = 0;

    for (i = 0; i < array.n; i++) {
        id_token |= ngx_svc_oauth_claims_kept(&array.elts[i],
                                       NGX_SVC_OAUTH_IN_ID_TOKEN, &scope);
        userinfo |= ngx_svc_oauth_claims_kept(&array.elts[i],
                                       NGX_SVC_OAUTH_IN_USERINFO, &scope);
    }

    fuzz_assert(id_token == (asked->id_token
                             & ~(NGX_SVC_OAUTH_CLAIM_SUB
                                 |NGX_SVC_OAUTH_CLAIM_AUTH_TIME
                                 |NGX_SVC_OAUTH_CLAIM_ACR)));
    fuzz_assert(userinfo == (asked->userinfo & ~NGX_SVC_OAUTH_CLAIM_SUB));
}
