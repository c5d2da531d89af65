/*
 * What an entry of a directory says of a user.
 */

#include "ngx_svc_ldap_entry.h"


#define NGX_SVC_LDAP_AD_DISABLED  2     /* MS-ADTS, 2.2.16 */


/* What tells entries apart, whatever their names become. */

typedef struct {
    char        *name;
    ngx_uint_t   binary;
} ngx_svc_ldap_unique_t;


static ngx_int_t ngx_svc_ldap_subject(ngx_svc_ldap_job_t *job,
    LDAPMessage *entry);
static ngx_int_t ngx_svc_ldap_subject_of(ngx_svc_ldap_job_t *job,
    LDAPMessage *entry, const ngx_svc_ldap_unique_t *unique);
static ngx_int_t ngx_svc_ldap_hex(ngx_svc_ldap_job_t *job, ngx_str_t *value);
static ngx_int_t ngx_svc_ldap_attributes(ngx_svc_ldap_job_t *job,
    LDAPMessage *entry);
static ngx_int_t ngx_svc_ldap_disabled(ngx_svc_ldap_job_t *job,
    LDAPMessage *entry);


static const ngx_svc_ldap_unique_t  ngx_svc_ldap_uniques[] = {
    { "objectGUID", 1 },
    { "entryUUID", 0 },
    { "nsUniqueId", 0 },
    { NULL, 0 }
};


void
ngx_svc_ldap_wanted(const ngx_svc_ldap_in_t *in,
    char *names[NGX_SVC_LDAP_WANTED])
{
    ngx_uint_t                     i, n;
    const ngx_svc_ldap_unique_t   *unique;

    static char *const  states[] = {
        "userAccountControl", "accountExpires", "nsAccountLock",
        "pwdAccountLockedTime", "loginDisabled", NULL
    };

    static char *const  groups[] = {
        "memberOf", "primaryGroupID", "objectSid", NULL
    };

    n = 0;

    for (i = 0; i < NGX_SVC_ATTRIBUTES; i++) {
        if (in->attributes[i]) {
            names[n++] = in->attributes[i];
        }
    }

    for (unique = ngx_svc_ldap_uniques; unique->name; unique++) {
        names[n++] = unique->name;
    }

    for (i = 0; states[i]; i++) {
        names[n++] = states[i];
    }

    for (i = 0; in->groups && groups[i]; i++) {
        names[n++] = groups[i];
    }

    if (in->unique_id) {
        names[n++] = in->unique_id;
    }

    names[n] = NULL;
}


ngx_int_t
ngx_svc_ldap_entry(ngx_svc_ldap_job_t *job, LDAPMessage *entry)
{
    char       *dn;
    ngx_str_t   text;

    dn = ldap_get_dn(job->conn->ld, entry);
    if (dn == NULL) {
        return NGX_ERROR;
    }

    text.data = (u_char *) dn;
    text.len = ngx_strlen(dn);

    job->out.dn.len = text.len;
    job->out.dn.data = (u_char *) ngx_svc_ldap_copy(job->work.pool, &text);

    ldap_memfree(dn);

    if (job->out.dn.data == NULL
        || ngx_svc_ldap_attributes(job, entry) != NGX_OK
        || ngx_svc_ldap_disabled(job, entry) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_svc_ldap_subject(job, entry);
}


ngx_int_t
ngx_svc_ldap_first(ngx_svc_ldap_job_t *job, LDAPMessage *entry,
    const char *name, ngx_str_t *value)
{
    ngx_str_t        text;
    struct berval  **values;

    ngx_str_null(value);

    values = ldap_get_values_len(job->conn->ld, entry, name);

    if (values == NULL) {
        return NGX_OK;
    }

    if (values[0]) {
        text.data = (u_char *) values[0]->bv_val;
        text.len = values[0]->bv_len;

        value->data = (u_char *) ngx_svc_ldap_copy(job->work.pool, &text);
        value->len = text.len;
    }

    ldap_value_free_len(values);

    return value->len && value->data == NULL ? NGX_ERROR : NGX_OK;
}


static ngx_int_t
ngx_svc_ldap_subject(ngx_svc_ldap_job_t *job, LDAPMessage *entry)
{
    ngx_int_t                     rc;
    ngx_svc_ldap_unique_t         own;
    const ngx_svc_ldap_unique_t  *unique;

    if (job->in.unique_id) {
        own.name = job->in.unique_id;
        own.binary = 0;

        return ngx_svc_ldap_subject_of(job, entry, &own);
    }

    rc = NGX_DECLINED;

    for (unique = ngx_svc_ldap_uniques;
         unique->name && rc == NGX_DECLINED;
         unique++)
    {
        rc = ngx_svc_ldap_subject_of(job, entry, unique);
    }

    return rc;
}


static ngx_int_t
ngx_svc_ldap_subject_of(ngx_svc_ldap_job_t *job, LDAPMessage *entry,
    const ngx_svc_ldap_unique_t *unique)
{
    ngx_str_t  *subject;

    subject = &job->out.subject;

    if (ngx_svc_ldap_first(job, entry, unique->name, subject) != NGX_OK) {
        return NGX_ERROR;
    }

    if (subject->len == 0) {
        return NGX_DECLINED;
    }

    if ((unique->binary || !ngx_svc_ldap_is_text(subject))
        && ngx_svc_ldap_hex(job, subject) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return subject->len <= NGX_SVC_LDAP_SUBJECT ? NGX_OK : NGX_DECLINED;
}


static ngx_int_t
ngx_svc_ldap_hex(ngx_svc_ldap_job_t *job, ngx_str_t *value)
{
    u_char  *p;

    p = ngx_pnalloc(job->work.pool, value->len * 2);
    if (p == NULL) {
        return NGX_ERROR;
    }

    (void) ngx_hex_dump(p, value->data, value->len);

    value->data = p;
    value->len *= 2;

    return NGX_OK;
}


/* A value that is too long, or no text, is none. */

static ngx_int_t
ngx_svc_ldap_attributes(ngx_svc_ldap_job_t *job, LDAPMessage *entry)
{
    ngx_uint_t   i;
    ngx_str_t   *value;

    for (i = 0; i < NGX_SVC_ATTRIBUTES; i++) {

        if (job->in.attributes[i] == NULL) {
            continue;
        }

        value = &job->out.values[i];

        if (ngx_svc_ldap_first(job, entry, job->in.attributes[i], value)
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        if (value->len == 0 || value->len > NGX_SVC_LDAP_VALUE
            || !ngx_svc_ldap_is_text(value))
        {
            ngx_str_null(value);
        }
    }

    return NGX_OK;
}


/*
 * A directory that locks an account for a time refuses the bind, and may leave
 * its mark until the next one: pwdAccountLockedTime counts here only if it is
 * for good (draft-behera-ldap-password-policy, 5.3.3).
 */

static ngx_int_t
ngx_svc_ldap_disabled(ngx_svc_ldap_job_t *job, LDAPMessage *entry)
{
    ngx_int_t   flags;
    ngx_str_t   value;
    ngx_uint_t  i;

    static const struct {
        const char  *name;
        const char  *value;
    } marks[] = {
        { "nsAccountLock", "true" },
        { "loginDisabled", "true" },
        { "pwdAccountLockedTime", "000001010000Z" }
    };

    for (i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {

        if (ngx_svc_ldap_first(job, entry, marks[i].name, &value) != NGX_OK) {
            return NGX_ERROR;
        }

        job->out.disabled |= value.data
                             && ngx_strcasecmp(value.data,
                                               (u_char *) marks[i].value)
                                == 0;
    }

    if (ngx_svc_ldap_first(job, entry, "userAccountControl", &value)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    flags = ngx_atoi(value.data, value.len);
    job->out.disabled |= flags != NGX_ERROR
                         && (flags & NGX_SVC_LDAP_AD_DISABLED);

    if (ngx_svc_ldap_first(job, entry, "accountExpires", &value) != NGX_OK) {
        return NGX_ERROR;
    }

    job->out.disabled |= value.len
                         && ngx_svc_ldap_ad_expired(&value, time(NULL));

    return NGX_OK;
}
