/*
 * What an entry of a directory says of a person.
 */

#include "ngx_svc_directory_person.h"
#include "ngx_svc_email.h"
#include "ngx_svc_federation_proof.h"
#include "ngx_svc_profile.h"
#include "ngx_svc_sealed.h"
#include "ngx_svc_utf8.h"


static ngx_int_t ngx_svc_directory_person_id(ngx_svc_json_writer_t *w,
    ngx_pool_t *pool, const u_char *connection, const ngx_str_t *subject);
static ngx_int_t ngx_svc_directory_person_email(ngx_svc_json_writer_t *w,
    const ngx_str_t *email);
static ngx_int_t ngx_svc_directory_person_bytes(ngx_svc_json_writer_t *w,
    ngx_pool_t *pool, const char *key, const u_char *data, size_t len);


/* The columns of an account's attributes, by ngx_svc_attribute_keys. */

static const char *const  ngx_svc_directory_columns[NGX_SVC_ATTRIBUTES] = {
    NULL, "first_name", "last_name", "display_name", NULL, NULL, NULL, NULL
};


ngx_uint_t
ngx_svc_directory_mailbox(const ngx_str_t *email)
{
    ngx_svc_error_t  err;
    ngx_svc_value_t  value;

    ngx_memzero(&value, sizeof(ngx_svc_value_t));
    err.kind = NGX_SVC_E_NONE;
    value.str = *email;

    return email->len && email->len <= NGX_SVC_EMAIL_MAX
           && ngx_svc_utf8(email->data, email->len) == NGX_OK
           && ngx_svc_email_check(NULL, &value, "email", &err) == NGX_OK;
}


ngx_int_t
ngx_svc_directory_person_write(ngx_svc_json_writer_t *w, ngx_pool_t *pool,
    const u_char connection[NGX_SVC_UUID_LEN],
    const ngx_svc_ldap_person_t *person)
{
    ngx_str_t   text;
    ngx_uint_t  i;

    ngx_svc_json_boolean(w, "disabled", person->disabled);

    if ((person->subject.data
         && ngx_svc_directory_person_id(w, pool, connection, &person->subject)
            != NGX_OK)
        || (ngx_svc_directory_mailbox(&person->values[0])
            && ngx_svc_directory_person_email(w, &person->values[0])
               != NGX_OK))
    {
        return NGX_ERROR;
    }

    for (i = 0; i < NGX_SVC_ATTRIBUTES; i++) {

        if (ngx_svc_directory_columns[i] == NULL) {
            continue;
        }

        text = ngx_svc_federation_proof_value(&person->values[i],
                                              NGX_SVC_PROFILE_MAX);

        if (text.len) {
            ngx_svc_json_string(w, ngx_svc_directory_columns[i], text.data,
                                text.len);
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_directory_person_id(ngx_svc_json_writer_t *w, ngx_pool_t *pool,
    const u_char *connection, const ngx_str_t *subject)
{
    u_char     user[NGX_SVC_UUID_LEN], hash[NGX_SVC_SHA256_LEN],
               text[NGX_SVC_UUID_TEXT_LEN];
    ngx_str_t  link, sealed;

    if (ngx_svc_uuid_new(user) != NGX_OK
        || ngx_svc_federation_proof_hash(connection, subject, hash) != NGX_OK
        || ngx_svc_federation_proof_link(pool, subject, &link, &sealed)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_svc_json_plain(w, "id", text, ngx_svc_uuid_text(text, user) - text);
    ngx_svc_json_plain(w, "link", text,
                       ngx_svc_uuid_text(text, link.data) - text);

    return ngx_svc_directory_person_bytes(w, pool, "hash", hash, sizeof(hash))
           == NGX_OK
           ? ngx_svc_directory_person_bytes(w, pool, "subject", sealed.data,
                                          sealed.len)
           : NGX_ERROR;
}


static ngx_int_t
ngx_svc_directory_person_email(ngx_svc_json_writer_t *w,
    const ngx_str_t *email)
{
    size_t  len;
    u_char  key[NGX_SVC_EMAIL_KEY];

    if (ngx_svc_email_key(key, &len, email) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_svc_json_string(w, "email", email->data, email->len);
    ngx_svc_json_string(w, "key", key, len);

    return NGX_OK;
}


/* It is a bytea, as PostgreSQL writes it, whose "\" is escaped in JSON. */

static ngx_int_t
ngx_svc_directory_person_bytes(ngx_svc_json_writer_t *w, ngx_pool_t *pool,
    const char *key, const u_char *data, size_t len)
{
    u_char  *p, *text;

    static const char  prefix[] = "\\\\x";

    text = ngx_pnalloc(pool, sizeof(prefix) + 2 * len);
    if (text == NULL) {
        return NGX_ERROR;
    }

    p = ngx_cpymem(text, prefix, sizeof(prefix) - 1);

    ngx_svc_json_plain(w, key, text,
                       ngx_hex_dump(p, (u_char *) data, len) - text);

    return NGX_OK;
}
