/*
 * Who a person is at an identity provider.
 */

#include "ngx_svc_provider_person.h"
#include "ngx_svc_email.h"
#include "ngx_svc_json.h"
#include "ngx_svc_json_check.h"


static ngx_int_t ngx_svc_provider_subject(ngx_pool_t *pool,
    const ngx_svc_provider_settings_t *settings, const cJSON *claims,
    ngx_svc_provider_person_t *person);
static ngx_int_t ngx_svc_provider_refuse(ngx_svc_provider_person_t *person,
    const char *why);
static ngx_uint_t ngx_svc_provider_email(const cJSON *json, ngx_str_t *email);
static ngx_int_t ngx_svc_provider_domain(const ngx_str_t *email,
    u_char key[NGX_SVC_EMAIL_KEY], ngx_str_t *domain);
static ngx_uint_t ngx_svc_provider_owned(
    const ngx_svc_provider_settings_t *settings, const ngx_str_t *domain);
static ngx_uint_t ngx_svc_provider_vouches(
    const ngx_svc_provider_settings_t *settings, const cJSON *claims,
    const ngx_str_t *domain);
static ngx_uint_t ngx_svc_provider_google(const cJSON *claims,
    const ngx_str_t *domain);
static ngx_uint_t ngx_svc_provider_microsoft(
    const ngx_svc_provider_settings_t *settings, const cJSON *claims,
    const ngx_str_t *domain);
static ngx_int_t ngx_svc_provider_parse(ngx_pool_t *pool,
    const ngx_str_t *text, cJSON **json);
static ngx_int_t ngx_svc_provider_list(ngx_pool_t *pool,
    const ngx_str_t *text, const cJSON **list);


ngx_int_t
ngx_svc_provider_person(ngx_pool_t *pool,
    const ngx_svc_provider_settings_t *settings, const cJSON *claims,
    ngx_svc_provider_person_t *person)
{
    u_char     key[NGX_SVC_EMAIL_KEY];
    ngx_int_t  rc;
    ngx_str_t  domain;

    ngx_memzero(person, sizeof(ngx_svc_provider_person_t));

    rc = ngx_svc_provider_subject(pool, settings, claims, person);

    if (rc != NGX_OK || !ngx_svc_provider_email(claims, &person->email)) {
        return rc;
    }

    if (ngx_svc_provider_domain(&person->email, key, &domain) != NGX_OK) {
        return NGX_ERROR;
    }

    person->verified = ngx_svc_provider_vouches(settings, claims, &domain);

    return NGX_OK;
}


/*
 * Takes what an account is linked to: "sub", which at Microsoft is another one
 * for each client.
 */

static ngx_int_t
ngx_svc_provider_subject(ngx_pool_t *pool,
    const ngx_svc_provider_settings_t *settings, const cJSON *claims,
    ngx_svc_provider_person_t *person)
{
    u_char     *p;
    ngx_str_t   tid, oid;

    if (!settings->provider->tenant) {
        return ngx_svc_jws_text(claims, "sub", &person->subject) == NGX_OK
               && person->subject.len
               ? NGX_OK : ngx_svc_provider_refuse(person, "has no 'sub'");
    }

    if (ngx_svc_jws_text(claims, "tid", &tid) != NGX_OK || tid.len == 0
        || ngx_svc_jws_text(claims, "oid", &oid) != NGX_OK || oid.len == 0)
    {
        return ngx_svc_provider_refuse(person, "has no 'tid' and 'oid'");
    }

    p = ngx_pnalloc(pool, tid.len + 1 + oid.len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    person->subject.data = p;

    p = ngx_cpymem(p, tid.data, tid.len);
    *p++ = ':';
    p = ngx_cpymem(p, oid.data, oid.len);

    person->subject.len = p - person->subject.data;

    return NGX_OK;
}


static ngx_int_t
ngx_svc_provider_refuse(ngx_svc_provider_person_t *person, const char *why)
{
    person->why = why;

    return NGX_DECLINED;
}


/* Returns 1 if the member "email" is an address that a mailbox can have. */

static ngx_uint_t
ngx_svc_provider_email(const cJSON *json, ngx_str_t *email)
{
    ngx_svc_error_t  err;
    ngx_svc_value_t  value;

    ngx_memzero(&value, sizeof(ngx_svc_value_t));
    err.kind = NGX_SVC_E_NONE;

    if (ngx_svc_jws_text(json, "email", &value.str) != NGX_OK
        || value.str.len == 0
        || ngx_svc_email_check(NULL, &value, "email", &err) != NGX_OK)
    {
        return 0;
    }

    *email = value.str;

    return 1;
}


/* Sets the domain of an address, which is a part of key. */

static ngx_int_t
ngx_svc_provider_domain(const ngx_str_t *email, u_char key[NGX_SVC_EMAIL_KEY],
    ngx_str_t *domain)
{
    size_t  len;

    if (ngx_svc_email_key(key, &len, email) != NGX_OK) {
        return NGX_ERROR;
    }

    domain->data = ngx_strlchr(key, key + len, '@') + 1;
    domain->len = key + len - domain->data;

    return NGX_OK;
}


static ngx_uint_t
ngx_svc_provider_owned(const ngx_svc_provider_settings_t *settings,
    const ngx_str_t *domain)
{
    ngx_uint_t  i;

    for (i = 0; i < settings->ndomains; i++) {
        if (ngx_svc_same(&settings->domains[i], domain)) {
            return 1;
        }
    }

    return 0;
}


/* domain: that of the address, in lower case, as A-labels. */

static ngx_uint_t
ngx_svc_provider_vouches(const ngx_svc_provider_settings_t *settings,
    const cJSON *claims, const ngx_str_t *domain)
{
    switch (settings->provider->vouch) {

    case NGX_SVC_PROVIDER_CLAIMED:
        return ngx_svc_id_token_true(claims, "email_verified");

    case NGX_SVC_PROVIDER_GOOGLE:
        return ngx_svc_provider_google(claims, domain);

    case NGX_SVC_PROVIDER_MICROSOFT:
        return ngx_svc_provider_microsoft(settings, claims, domain);

    case NGX_SVC_PROVIDER_TRUSTED:
        return ngx_svc_id_token_true(claims, "email_verified")
               || (settings->trust_email
                   && ngx_svc_provider_owned(settings, domain));

    default: /* NGX_SVC_PROVIDER_NEVER */
        return 0;
    }
}


/*
 * Google vouches for mailboxes that it has itself: of an address elsewhere it
 * knows that the person had it once.
 */

static ngx_uint_t
ngx_svc_provider_google(const cJSON *claims, const ngx_str_t *domain)
{
    ngx_str_t  hd;

    static const ngx_str_t  gmail = ngx_string("gmail.com");

    return ngx_svc_id_token_true(claims, "email_verified")
           && (ngx_svc_same(domain, &gmail)
               || (ngx_svc_jws_text(claims, "hd", &hd) == NGX_OK
                   && hd.len == domain->len
                   && ngx_strncasecmp(hd.data, domain->data, hd.len) == 0));
}


/*
 * Anybody's tenant may write anybody's address into "email".  "xms_edov" says
 * that the domain's owner vouches for it; Microsoft has written it in several
 * ways.
 */

static ngx_uint_t
ngx_svc_provider_microsoft(const ngx_svc_provider_settings_t *settings,
    const cJSON *claims, const ngx_str_t *domain)
{
    const cJSON  *edov;

    edov = cJSON_GetObjectItemCaseSensitive(claims, "xms_edov");

    if (ngx_svc_id_token_true(claims, "xms_edov")
        || (cJSON_IsString(edov) && ngx_strcmp(edov->valuestring, "1") == 0)
        || (cJSON_IsNumber(edov) && edov->valuedouble == 1))
    {
        return 1;
    }

    return ngx_svc_provider_one_tenant(settings)
           && ngx_svc_provider_owned(settings, domain);
}


ngx_int_t
ngx_svc_provider_github(ngx_pool_t *pool, const ngx_str_t *user,
    const ngx_str_t *emails, ngx_svc_provider_person_t *person)
{
    cJSON        *json;
    double        n;
    ngx_int_t     rc;
    const cJSON  *id, *list, *item;

    ngx_memzero(person, sizeof(ngx_svc_provider_person_t));

    list = NULL;
    rc = ngx_svc_provider_parse(pool, user, &json);

    if (rc == NGX_OK) {
        rc = ngx_svc_provider_list(pool, emails, &list);
    }

    if (rc == NGX_DECLINED) {
        return ngx_svc_provider_refuse(person, "has an answer that is not"
                                       " GitHub's");
    }

    if (rc != NGX_OK) {
        return rc;
    }

    id = cJSON_GetObjectItemCaseSensitive(json, "id");
    n = cJSON_IsNumber(id) ? id->valuedouble : 0;

    if (n < 1 || n > NGX_SVC_JWS_INTEGER || n != (double) (int64_t) n) {
        return ngx_svc_provider_refuse(person, "has no 'id'");
    }

    person->subject.data = ngx_pnalloc(pool, NGX_INT64_LEN);
    if (person->subject.data == NULL) {
        return NGX_ERROR;
    }

    person->subject.len = ngx_sprintf(person->subject.data, "%L", (int64_t) n)
                          - person->subject.data;

    cJSON_ArrayForEach(item, list) {
        if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "primary"))
            && ngx_svc_provider_email(item, &person->email))
        {
            person->verified = cJSON_IsTrue(
                        cJSON_GetObjectItemCaseSensitive(item, "verified"));
            break;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_provider_parse(ngx_pool_t *pool, const ngx_str_t *text, cJSON **json)
{
    ngx_str_t        copy;
    ngx_svc_error_t  err;

    copy = *text;
    err.kind = NGX_SVC_E_NONE;

    return ngx_svc_json_parse(pool, &copy, json, &err);
}


/* Parses an array of objects; ngx_svc_json_parse() takes an object only. */

static ngx_int_t
ngx_svc_provider_list(ngx_pool_t *pool, const ngx_str_t *text,
    const cJSON **list)
{
    cJSON            *json;
    ngx_int_t         rc;
    ngx_str_t         object, open;
    ngx_svc_error_t   err;

    err.kind = NGX_SVC_E_NONE;

    if (ngx_svc_json_check(text->data, text->len, &err) != NGX_OK) {
        return NGX_DECLINED;
    }

    ngx_str_set(&open, "{\"list\":");

    object.len = open.len + text->len + 1;
    object.data = ngx_pnalloc(pool, object.len);

    if (object.data == NULL) {
        return NGX_ERROR;
    }

    *ngx_cpymem(ngx_cpymem(object.data, open.data, open.len), text->data,
                text->len) = '}';

    rc = ngx_svc_provider_parse(pool, &object, &json);

    if (rc != NGX_OK) {
        return rc;
    }

    *list = cJSON_GetObjectItemCaseSensitive(json, "list");

    return cJSON_IsArray(*list) ? NGX_OK : NGX_DECLINED;
}
