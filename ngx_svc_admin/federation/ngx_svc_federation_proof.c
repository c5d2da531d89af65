/*
 * What an ID token says of a person.
 */

#include "ngx_svc_federation_proof.h"
#include "ngx_svc_bidi.h"
#include "ngx_svc_email.h"
#include "ngx_svc_federation_answer.h"
#include "ngx_svc_profile.h"
#include "ngx_svc_sealed.h"
#include "ngx_svc_utf8.h"


#define NGX_SVC_FEDERATION_FRESH  (12 * 3600)   /* s since a second factor */


static ngx_int_t ngx_svc_federation_proof_times(
    ngx_svc_federation_flow_t *flow, const ngx_svc_id_token_t *token);
static ngx_uint_t ngx_svc_federation_proof_amr(const cJSON *amr);


ngx_int_t
ngx_svc_federation_proof(ngx_svc_federation_flow_t *flow,
    const ngx_svc_id_token_t *token)
{
    ngx_int_t                    rc;
    ngx_svc_provider_person_t    person;
    ngx_svc_federation_proof_t  *proof;

    proof = &flow->proof;

    rc = ngx_svc_provider_person(flow->login.sr->request->pool,
                                 &flow->connection.settings, token->claims,
                                 &person);

    if (rc == NGX_DECLINED) {
        return ngx_svc_federation_fail(flow, "the ID token %s", person.why);
    }

    ngx_svc_federation_proof_text(token->claims, "given_name",
                                  NGX_SVC_PROFILE_MAX, &proof->first_name);
    ngx_svc_federation_proof_text(token->claims, "family_name",
                                  NGX_SVC_PROFILE_MAX, &proof->last_name);
    ngx_svc_federation_proof_text(token->claims, "acr", 255, &proof->acr);

    return rc == NGX_OK && ngx_svc_federation_proof_times(flow, token) == NGX_OK
           ? ngx_svc_federation_proof_person(flow, &person, token->claims)
           : NGX_ERROR;
}


ngx_int_t
ngx_svc_federation_proof_person(ngx_svc_federation_flow_t *flow,
    const ngx_svc_provider_person_t *person, const cJSON *claims)
{
    ngx_svc_federation_proof_text(claims, "name", NGX_SVC_PROFILE_MAX,
                                  &flow->proof.display_name);

    return ngx_svc_federation_proof_subject(flow, &person->subject) == NGX_OK
           ? ngx_svc_federation_proof_email(flow, &person->email,
                                            person->verified)
           : NGX_ERROR;
}


ngx_int_t
ngx_svc_federation_proof_subject(ngx_svc_federation_flow_t *flow,
    const ngx_str_t *subject)
{
    u_char  *hash;

    hash = ngx_pnalloc(flow->login.sr->request->pool, NGX_SVC_SHA256_LEN);

    if (hash == NULL) {
        return NGX_ERROR;
    }

    flow->proof.subject = *subject;
    flow->proof.subject_hash.data = hash;
    flow->proof.subject_hash.len = NGX_SVC_SHA256_LEN;

    return ngx_svc_federation_proof_hash(flow->connection.id.data, subject,
                                         hash);
}


ngx_int_t
ngx_svc_federation_proof_hash(const u_char id[NGX_SVC_UUID_LEN],
    const ngx_str_t *subject, u_char hash[NGX_SVC_SHA256_LEN])
{
    u_char  text[NGX_SVC_UUID_LEN + 2 * NGX_SVC_ID_TOKEN_SUB];

    if (subject->len > sizeof(text) - NGX_SVC_UUID_LEN) {
        return NGX_ERROR;
    }

    ngx_memcpy(ngx_cpymem(text, id, NGX_SVC_UUID_LEN), subject->data,
               subject->len);

    return ngx_svc_sha256(text, NGX_SVC_UUID_LEN + subject->len, hash);
}


/* The domain is that of the address's key. */

ngx_int_t
ngx_svc_federation_proof_email(ngx_svc_federation_flow_t *flow,
    const ngx_str_t *email, ngx_uint_t verified)
{
    size_t                        len;
    u_char                       *p, key[NGX_SVC_EMAIL_KEY];
    ngx_svc_federation_proof_t   *proof;

    proof = &flow->proof;

    if (email->data == NULL) {
        return NGX_OK;
    }

    if (ngx_svc_email_key(key, &len, email) != NGX_OK) {
        return NGX_ERROR;
    }

    for (p = key + len; p > key && p[-1] != '@'; p--) { /* void */ }

    proof->domain.len = key + len - p;
    proof->domain.data = ngx_pnalloc(flow->login.sr->request->pool,
                                     proof->domain.len + 1);
    if (proof->domain.data == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(proof->domain.data, p, proof->domain.len);

    proof->email = *email;
    proof->verified = verified;

    return NGX_OK;
}


void
ngx_svc_federation_proof_text(const cJSON *claims, const char *name,
    size_t max, ngx_str_t *text)
{
    ngx_str_t     value;
    const cJSON  *claim;

    claim = cJSON_GetObjectItemCaseSensitive(claims, name);

    if (cJSON_IsString(claim)) {
        value.data = (u_char *) claim->valuestring;
        value.len = ngx_strlen(value.data);

        *text = ngx_svc_federation_proof_value(&value, max);
    }
}


/*
 * Control characters are in no name, nor what has a text look like another one.
 */

ngx_str_t
ngx_svc_federation_proof_value(const ngx_str_t *value, size_t max)
{
    size_t            i;

    static ngx_str_t  none = ngx_null_string;

    if (value->len == 0 || value->len > max
        || ngx_svc_utf8(value->data, value->len) != NGX_OK
        || ngx_svc_bidi(value))
    {
        return none;
    }

    for (i = 0; i < value->len; i++) {
        if (value->data[i] < 0x20 || value->data[i] == 0x7f) {
            return none;
        }
    }

    return *value;
}


/*
 * When the person has signed in there, and by two factors or not: what a
 * provider does not date is worth nothing as a second one.
 */

static ngx_int_t
ngx_svc_federation_proof_times(ngx_svc_federation_flow_t *flow,
    const ngx_svc_id_token_t *token)
{
    const cJSON                 *amr;
    ngx_svc_federation_proof_t  *proof;

    proof = &flow->proof;

    if (ngx_svc_federation_proof_digest(flow, &token->sid, &proof->sid)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (token->auth_time == 0) {
        return NGX_OK;
    }

    if (ngx_svc_federation_proof_time(flow, token->auth_time) != NGX_OK) {
        return NGX_ERROR;
    }

    amr = cJSON_GetObjectItemCaseSensitive(token->claims, "amr");
    proof->recent = ngx_time() - token->auth_time <= NGX_SVC_FEDERATION_FRESH;
    proof->factors = ngx_svc_federation_proof_amr(amr);

    return NGX_OK;
}


ngx_int_t
ngx_svc_federation_proof_time(ngx_svc_federation_flow_t *flow, time_t at)
{
    ngx_str_t  *text;

    text = &flow->proof.auth_time;

    text->data = ngx_pnalloc(flow->login.sr->request->pool, NGX_TIME_T_LEN);

    if (text->data == NULL) {
        return NGX_ERROR;
    }

    text->len = ngx_sprintf(text->data, "%T", at) - text->data;

    return NGX_OK;
}


ngx_int_t
ngx_svc_federation_proof_digest(ngx_svc_federation_flow_t *flow,
    const ngx_str_t *text, ngx_str_t *digest)
{
    if (text->data == NULL) {
        return NGX_OK;
    }

    digest->len = NGX_SVC_SHA256_LEN;
    digest->data = ngx_pnalloc(flow->login.sr->request->pool,
                               NGX_SVC_SHA256_LEN);

    return digest->data
           ? ngx_svc_sha256(text->data, text->len, digest->data) : NGX_ERROR;
}


/* Counts the kinds of RFC 8176: what one knows, has, and is. */

static ngx_uint_t
ngx_svc_federation_proof_amr(const cJSON *amr)
{
    ngx_uint_t    i, kinds;
    const cJSON  *value;

    static const struct {
        const char  *value;
        ngx_uint_t   kinds;
    } known[] = {
        { "mfa", 3 },
        { "pwd", 1 }, { "pin", 1 }, { "kba", 1 },
        { "otp", 2 }, { "hwk", 2 }, { "swk", 2 }, { "sc", 2 }, { "sms", 2 },
        { "tel", 2 },
        { "face", 4 }, { "fpt", 4 }, { "iris", 4 }, { "retina", 4 },
        { "vbm", 4 }
    };

    kinds = 0;

    cJSON_ArrayForEach(value, amr) {

        for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
            if (cJSON_IsString(value)
                && ngx_strcmp(value->valuestring, known[i].value) == 0)
            {
                kinds |= known[i].kinds;
            }
        }
    }

    return (kinds & 1) + (kinds >> 1 & 1) + (kinds >> 2 & 1);
}


ngx_int_t
ngx_svc_federation_proof_seal(ngx_svc_federation_flow_t *flow)
{
    ngx_svc_federation_proof_t  *proof;

    proof = &flow->proof;

    return ngx_svc_federation_proof_link(flow->login.sr->request->pool,
                                         &proof->subject, &proof->link,
                                         &proof->sealed);
}


ngx_int_t
ngx_svc_federation_proof_link(ngx_pool_t *pool, const ngx_str_t *subject,
    ngx_str_t *link, ngx_str_t *sealed)
{
    u_char     *id, text[NGX_SVC_UUID_TEXT_LEN];
    ngx_str_t   name;

    id = ngx_pnalloc(pool, NGX_SVC_UUID_LEN);
    sealed->data = ngx_pnalloc(pool, subject->len + NGX_SVC_SEAL_OVERHEAD);

    if (id == NULL || sealed->data == NULL || ngx_svc_uuid_new(id) != NGX_OK) {
        return NGX_ERROR;
    }

    link->data = id;
    link->len = NGX_SVC_UUID_LEN;
    name.data = text;
    name.len = ngx_svc_uuid_text(text, id) - text;

    return ngx_svc_sealed_seal("federated_identity", &name, subject,
                               sealed->data, &sealed->len);
}
