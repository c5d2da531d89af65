/*
 * In a thread: finds the groups of a user.
 */

#include "ngx_svc_ldap_groups.h"
#include "ngx_svc_ldap_entry.h"


/* the groups of a group, too (MS-ADTS, 3.1.1.3.4.4.3) */
#define NGX_SVC_LDAP_IN_CHAIN  "1.2.840.113556.1.4.1941"

#define NGX_SVC_LDAP_SHOWN     3        /* groups in a sentence */
#define NGX_SVC_LDAP_SHOWN_DN  90       /* bytes of each */


static ngx_int_t ngx_svc_ldap_groups_values(ngx_svc_ldap_job_t *job,
    LDAPMessage *entry, const char *name);
static ngx_int_t ngx_svc_ldap_groups_add(ngx_svc_ldap_job_t *job,
    const ngx_str_t *dn);
static ngx_int_t ngx_svc_ldap_groups_rest(ngx_svc_ldap_job_t *job);
static ngx_int_t ngx_svc_ldap_groups_nested(ngx_svc_ldap_job_t *job);
static ngx_int_t ngx_svc_ldap_groups_primary(ngx_svc_ldap_job_t *job,
    ngx_str_t *primary);
static ngx_int_t ngx_svc_ldap_groups_with(ngx_svc_ldap_job_t *job);
static ngx_int_t ngx_svc_ldap_groups_search(ngx_svc_ldap_job_t *job,
    char *filter);
static ngx_int_t ngx_svc_ldap_groups_found(ngx_svc_ldap_job_t *job,
    LDAPMessage *result);
static char *ngx_svc_ldap_domain(const char *dn);
static ngx_int_t ngx_svc_ldap_groups_no_memory(ngx_svc_ldap_job_t *job);
static void ngx_svc_ldap_groups_said(ngx_svc_ldap_job_t *job);


/*
 * Active Directory cuts long lists: "memberOf;range=0-1499", and
 * "memberOf;range=1500-*" the last time.
 */

ngx_int_t
ngx_svc_ldap_groups_take(ngx_svc_ldap_job_t *job, LDAPMessage *entry)
{
    char        *name;
    ngx_int_t    rc;
    BerElement  *ber;

    static const ngx_str_t  range = ngx_string("memberOf;range=");

    if (job->out.groups.elts == NULL
        && (ngx_array_init(&job->out.groups, job->work.pool, 16,
                           sizeof(ngx_str_t))
            != NGX_OK
            || ngx_svc_ldap_first(job, entry, "objectSid", &job->out.sid)
               != NGX_OK
            || ngx_svc_ldap_first(job, entry, "primaryGroupID",
                                  &job->out.primary)
               != NGX_OK))
    {
        return NGX_ERROR;
    }

    job->out.range = 0;
    ber = NULL;
    rc = NGX_OK;

    for (name = ldap_first_attribute(job->conn->ld, entry, &ber);
         name;
         name = ldap_next_attribute(job->conn->ld, entry, ber))
    {
        if (rc != NGX_OK) {
            /* void */

        } else if (ngx_strcasecmp((u_char *) name, (u_char *) "memberOf")
                   == 0)
        {
            rc = ngx_svc_ldap_groups_values(job, entry, name);

        } else if (ngx_strncasecmp((u_char *) name, range.data, range.len)
                   == 0)
        {
            rc = ngx_svc_ldap_groups_values(job, entry, name);
            job->out.range = ngx_svc_ldap_range(name + range.len);
        }

        ldap_memfree(name);
    }

    ber_free(ber, 0);

    return rc;
}


static ngx_int_t
ngx_svc_ldap_groups_values(ngx_svc_ldap_job_t *job, LDAPMessage *entry,
    const char *name)
{
    ngx_int_t        rc;
    ngx_str_t        dn;
    ngx_uint_t       i;
    struct berval  **values;

    rc = NGX_OK;
    values = ldap_get_values_len(job->conn->ld, entry, name);

    for (i = 0; values && values[i] && rc == NGX_OK; i++) {
        dn.data = (u_char *) values[i]->bv_val;
        dn.len = values[i]->bv_len;

        rc = ngx_svc_ldap_groups_add(job, &dn);
    }

    ldap_value_free_len(values);

    return rc;
}


/* One that is too many is left out. */

static ngx_int_t
ngx_svc_ldap_groups_add(ngx_svc_ldap_job_t *job, const ngx_str_t *dn)
{
    ngx_uint_t  i;
    ngx_str_t  *group;

    group = job->out.groups.elts;

    for (i = 0; i < job->out.groups.nelts; i++) {
        if (group[i].len == dn->len
            && ngx_strncasecmp(group[i].data, dn->data, dn->len) == 0)
        {
            return NGX_OK;
        }
    }

    if (i == NGX_SVC_LDAP_GROUPS || dn->len == 0) {
        job->out.cut |= dn->len != 0;
        return NGX_OK;
    }

    group = ngx_array_push(&job->out.groups);
    if (group == NULL) {
        return NGX_ERROR;
    }

    group->len = dn->len;
    group->data = (u_char *) ngx_svc_ldap_copy(job->work.pool, dn);

    return group->data ? NGX_OK : NGX_ERROR;
}


ngx_int_t
ngx_svc_ldap_groups(ngx_svc_ldap_job_t *job)
{
    ngx_int_t  rc;

    ngx_svc_ldap_begin(job, NGX_SVC_LDAP_USER_GROUPS);

    rc = NGX_OK;

    while (rc == NGX_OK && job->out.range
           && job->out.groups.nelts < NGX_SVC_LDAP_GROUPS)
    {
        rc = ngx_svc_ldap_groups_rest(job);
    }

    job->out.cut |= job->out.range != 0;

    if (rc == NGX_OK && job->out.sid.len) {
        rc = ngx_svc_ldap_groups_nested(job);

    } else if (rc == NGX_OK && job->out.groups.nelts == 0) {
        rc = ngx_svc_ldap_groups_with(job);
    }

    if (rc == NGX_OK) {
        ngx_svc_ldap_groups_said(job);
    }

    return rc;
}


/* Reads the next part of a list that was cut. */

static ngx_int_t
ngx_svc_ldap_groups_rest(ngx_svc_ldap_job_t *job)
{
    int           rc;
    char         *names[2];
    u_char        name[sizeof("memberOf;range=-*") + NGX_INT_T_LEN];
    ngx_int_t     taken;
    LDAPMessage  *result, *entry;

    ngx_sprintf(name, "memberOf;range=%ui-*%Z", job->out.range);

    names[0] = (char *) name;
    names[1] = NULL;

    result = NULL;
    job->out.range = 0;

    rc = ldap_search_ext_s(job->conn->ld, (char *) job->out.dn.data,
                           LDAP_SCOPE_BASE, NULL, names, 0, NULL, NULL, NULL,
                           LDAP_NO_LIMIT, &result);
    taken = NGX_OK;

    if (rc == LDAP_SUCCESS) {
        entry = ldap_first_entry(job->conn->ld, result);

        if (entry) {
            taken = ngx_svc_ldap_groups_take(job, entry);
        }
    }

    ldap_msgfree(result);

    if (rc != LDAP_SUCCESS) {
        return ngx_svc_ldap_broken(job, rc,
                                   "The directory does not tell all groups");
    }

    return taken == NGX_OK ? NGX_OK : ngx_svc_ldap_groups_no_memory(job);
}


/* The primary group is not among memberOf, and does not have the user. */

static ngx_int_t
ngx_svc_ldap_groups_nested(ngx_svc_ldap_job_t *job)
{
    u_char     *filter, *p;
    ngx_int_t   rc;
    ngx_str_t   primary;

    rc = ngx_svc_ldap_groups_primary(job, &primary);
    if (rc != NGX_OK) {
        return rc;
    }

    filter = ngx_pnalloc(job->work.pool,
                         sizeof("(|(member:" NGX_SVC_LDAP_IN_CHAIN ":=)"
                                "(member:" NGX_SVC_LDAP_IN_CHAIN ":=))")
                         + 3 * (job->out.dn.len + primary.len));
    if (filter == NULL) {
        return ngx_svc_ldap_groups_no_memory(job);
    }

    p = ngx_sprintf(filter, "(|(member:" NGX_SVC_LDAP_IN_CHAIN ":=");
    p = ngx_svc_ldap_escape(p, &job->out.dn);

    if (primary.len) {
        p = ngx_sprintf(p, ")(member:" NGX_SVC_LDAP_IN_CHAIN ":=");
        p = ngx_svc_ldap_escape(p, &primary);
    }

    ngx_sprintf(p, "))%Z");

    return ngx_svc_ldap_groups_search(job, (char *) filter);
}


/* Adds the primary group; none: its DN is empty. */

static ngx_int_t
ngx_svc_ldap_groups_primary(ngx_svc_ldap_job_t *job, ngx_str_t *primary)
{
    u_char       filter[sizeof("(objectSid=)") + 3 * NGX_SVC_LDAP_SID_MAX], *p;
    ngx_int_t    rc;
    ngx_str_t   *groups;
    ngx_uint_t   n;

    ngx_str_null(primary);

    if (job->out.primary.len == 0
        || ngx_svc_ldap_sid_group(&job->out.sid, &job->out.primary) != NGX_OK)
    {
        return NGX_OK;
    }

    p = ngx_sprintf(filter, "(objectSid=");
    p = ngx_svc_ldap_escape_all(p, &job->out.sid);
    ngx_sprintf(p, ")%Z");

    n = job->out.groups.nelts;
    rc = ngx_svc_ldap_groups_search(job, (char *) filter);

    if (rc == NGX_OK && job->out.groups.nelts > n) {
        groups = job->out.groups.elts;
        *primary = groups[n];
    }

    return rc;
}


static ngx_int_t
ngx_svc_ldap_groups_with(ngx_svc_ldap_job_t *job)
{
    u_char  *filter, *p;

    filter = ngx_pnalloc(job->work.pool, sizeof("(|(member=)(uniqueMember=))")
                                         + 6 * job->out.dn.len);
    if (filter == NULL) {
        return ngx_svc_ldap_groups_no_memory(job);
    }

    p = ngx_sprintf(filter, "(|(member=");
    p = ngx_svc_ldap_escape(p, &job->out.dn);
    p = ngx_sprintf(p, ")(uniqueMember=");
    p = ngx_svc_ldap_escape(p, &job->out.dn);
    ngx_sprintf(p, "))%Z");

    return ngx_svc_ldap_groups_search(job, (char *) filter);
}


static ngx_int_t
ngx_svc_ldap_groups_search(ngx_svc_ldap_job_t *job, char *filter)
{
    int           rc;
    char         *domain;
    ngx_int_t     found;
    LDAPMessage  *result;

    static char  *nothing[] = { LDAP_NO_ATTRS, NULL };

    result = NULL;
    domain = ngx_svc_ldap_domain((char *) job->out.dn.data);

    rc = ldap_search_ext_s(job->conn->ld, domain ? domain : job->in.base_dn,
                           LDAP_SCOPE_SUBTREE, filter, nothing, 0, NULL, NULL,
                           NULL, NGX_SVC_LDAP_GROUPS, &result);
    ldap_memfree(domain);

    found = NGX_OK;

    if (rc == LDAP_SUCCESS || rc == LDAP_SIZELIMIT_EXCEEDED) {
        found = ngx_svc_ldap_groups_found(job, result);
        job->out.cut |= rc == LDAP_SIZELIMIT_EXCEEDED;
        rc = LDAP_SUCCESS;
    }

    ldap_msgfree(result);

    if (rc != LDAP_SUCCESS) {
        return ngx_svc_ldap_broken(job, rc,
                                   "The directory does not find groups");
    }

    return found == NGX_OK ? NGX_OK : ngx_svc_ldap_groups_no_memory(job);
}


static ngx_int_t
ngx_svc_ldap_groups_found(ngx_svc_ldap_job_t *job, LDAPMessage *result)
{
    char         *dn;
    ngx_int_t     rc;
    ngx_str_t     text;
    LDAPMessage  *entry;

    rc = NGX_OK;

    for (entry = ldap_first_entry(job->conn->ld, result);
         entry && rc == NGX_OK;
         entry = ldap_next_entry(job->conn->ld, entry))
    {
        dn = ldap_get_dn(job->conn->ld, entry);

        if (dn) {
            text.data = (u_char *) dn;
            text.len = ngx_strlen(dn);
            rc = ngx_svc_ldap_groups_add(job, &text);
            ldap_memfree(dn);
        }
    }

    return rc;
}


/*
 * Returns where the groups of an entry are: the "dc" at the end of its DN,
 * which ldap_memfree() frees; NULL: it has none.
 */

static char *
ngx_svc_ldap_domain(const char *dn)
{
    int     i, n;
    char   *domain;
    LDAPDN  parts;

    domain = NULL;

    if (ldap_str2dn(dn, &parts, LDAP_DN_FORMAT_LDAPV3) != LDAP_SUCCESS) {
        return NULL;
    }

    for (n = 0; parts && parts[n]; n++) { /* void */ }

    for (i = n; i > 0; i--) {
        if (parts[i - 1][0]->la_attr.bv_len != 2
            || ngx_strncasecmp((u_char *) parts[i - 1][0]->la_attr.bv_val,
                               (u_char *) "dc", 2)
               != 0)
        {
            break;
        }
    }

    if (i < n
        && ldap_dn2str(&parts[i], &domain, LDAP_DN_FORMAT_LDAPV3)
           != LDAP_SUCCESS)
    {
        domain = NULL;
    }

    ldap_dnfree(parts);

    return domain;
}


static ngx_int_t
ngx_svc_ldap_groups_no_memory(ngx_svc_ldap_job_t *job)
{
    return ngx_svc_ldap_fail(job, NGX_SVC_LDAP_FAILED,
                             "There is no memory for the groups.");
}


static void
ngx_svc_ldap_groups_said(ngx_svc_ldap_job_t *job)
{
    u_char       text[NGX_SVC_LDAP_SHOWN * (NGX_SVC_LDAP_SHOWN_DN
                                            + sizeof(", \"\""))], *p;
    ngx_str_t   *groups;
    ngx_uint_t   i, n;

    p = text;
    n = job->out.groups.nelts;
    groups = job->out.groups.elts;

    for (i = 0; i < ngx_min(n, NGX_SVC_LDAP_SHOWN); i++) {
        p = ngx_sprintf(p, "%s\"%*s\"", i ? ", " : "",
                        ngx_min(groups[i].len, NGX_SVC_LDAP_SHOWN_DN),
                        groups[i].data);
    }

    ngx_svc_ldap_did(job, "%ui group%s%s%*s%s.", n, n == 1 ? "" : "s",
                     n ? ": " : "", (size_t) (p - text), text,
                     n > NGX_SVC_LDAP_SHOWN ? " and others" : "");
}
