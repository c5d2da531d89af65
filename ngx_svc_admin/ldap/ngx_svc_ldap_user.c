/*
 * In a thread: finds a user's entry, and compares a password.
 */

#include "ngx_svc_ldap_user.h"
#include "ngx_svc_ldap_connect.h"
#include "ngx_svc_ldap_entry.h"
#include "ngx_svc_ldap_groups.h"


#define NGX_SVC_LDAP_READ  (4 * 1024 * 1024)    /* bytes of a job, at most */


static void ngx_svc_ldap_ask(ngx_svc_ldap_job_t *job);
static ngx_int_t ngx_svc_ldap_base(ngx_svc_ldap_job_t *job);
static ngx_int_t ngx_svc_ldap_search(ngx_svc_ldap_job_t *job);
static ngx_int_t ngx_svc_ldap_take(ngx_svc_ldap_job_t *job,
    LDAPMessage *result);
static ngx_int_t ngx_svc_ldap_password(ngx_svc_ldap_job_t *job);
static ngx_int_t ngx_svc_ldap_refused(ngx_svc_ldap_job_t *job, int rc,
    const char *message);


/*
 * A connection that the directory has closed while it was kept is made again,
 * to the address that was checked for it.
 */

void
ngx_svc_ldap_user(ngx_svc_ldap_job_t *job)
{
    ngx_svc_ldap_conn_t  *conn;

    conn = job->conn;

    conn->wire.deadline = job->in.deadline;
    conn->wire.left = NGX_SVC_LDAP_READ;
    conn->wire.late = 0;

    if (job->kept) {
        ngx_svc_ldap_ask(job);

        if (!job->lost) {
            return;
        }

        (void) ldap_unbind_ext(conn->ld, NULL, NULL);
        conn->ld = NULL;

        job->gone = 0;
        job->in.addrs[0] = conn->addr;
        job->in.naddrs = 1;
    }

    if (ngx_svc_ldap_connect(job) == NGX_OK) {
        ngx_svc_ldap_ask(job);
    }
}


static void
ngx_svc_ldap_ask(ngx_svc_ldap_job_t *job)
{
    if (job->in.filter == NULL) {
        (void) ngx_svc_ldap_base(job);
        return;
    }

    if (ngx_svc_ldap_search(job) != NGX_OK
        || (job->in.password.bv_val && ngx_svc_ldap_password(job) != NGX_OK)
        || (job->in.groups && ngx_svc_ldap_groups(job) != NGX_OK))
    {
        return;
    }

    job->out.outcome = job->out.disabled ? NGX_SVC_LDAP_DISABLED
                                         : NGX_SVC_LDAP_FOUND;
}


static ngx_int_t
ngx_svc_ldap_base(ngx_svc_ldap_job_t *job)
{
    int           rc;
    LDAPMessage  *result;

    static char  *nothing[] = { LDAP_NO_ATTRS, NULL };

    ngx_svc_ldap_begin(job, NGX_SVC_LDAP_SEARCH);

    result = NULL;
    rc = ldap_search_ext_s(job->conn->ld, job->in.base_dn, LDAP_SCOPE_BASE,
                           NULL, nothing, 0, NULL, NULL, NULL, LDAP_NO_LIMIT,
                           &result);

    if (rc == LDAP_SUCCESS
        && ldap_count_entries(job->conn->ld, result) == 1)
    {
        ldap_msgfree(result);
        ngx_svc_ldap_did(job, "\"baseDn\" is there.");
        job->out.outcome = NGX_SVC_LDAP_FOUND;
        return NGX_OK;
    }

    return ngx_svc_ldap_searched(job, rc, result);
}


static ngx_int_t
ngx_svc_ldap_search(ngx_svc_ldap_job_t *job)
{
    int           rc, n;
    char         *names[NGX_SVC_LDAP_WANTED];
    LDAPMessage  *result;

    ngx_svc_ldap_begin(job, NGX_SVC_LDAP_SEARCH);
    ngx_svc_ldap_wanted(&job->in, names);

    result = NULL;
    rc = ldap_search_ext_s(job->conn->ld, job->in.base_dn, LDAP_SCOPE_SUBTREE,
                           job->in.filter, names, 0, NULL, NULL, NULL, 2,
                           &result);
    n = result ? ldap_count_entries(job->conn->ld, result) : 0;

    if (n > 1 && (rc == LDAP_SUCCESS || rc == LDAP_SIZELIMIT_EXCEEDED)) {
        ldap_msgfree(result);
        return ngx_svc_ldap_fail(job, NGX_SVC_LDAP_MANY,
                                 "More than one entry fits %s: "
                                 "\"userFilter\" has to fit one alone.",
                                 job->in.filter);
    }

    if (rc != LDAP_SUCCESS) {
        job->lost = job->kept && rc == LDAP_SERVER_DOWN
                    && !job->conn->wire.late && !job->conn->wire.much;

        return ngx_svc_ldap_searched(job, rc, result);
    }

    if (n == 0) {
        ldap_msgfree(result);
        return ngx_svc_ldap_fail(job, NGX_SVC_LDAP_NONE,
                                 "No entry below \"baseDn\" that \"bindDn\" "
                                 "can see fits %s.", job->in.filter);
    }

    rc = ngx_svc_ldap_take(job, result);
    ldap_msgfree(result);

    return rc;
}


ngx_int_t
ngx_svc_ldap_searched(ngx_svc_ldap_job_t *job, int rc, LDAPMessage *result)
{
    ldap_msgfree(result);

    switch (rc) {

    case LDAP_SUCCESS:
    case LDAP_NO_SUCH_OBJECT:
        job->gone = 1;
        return ngx_svc_ldap_fail(job, NGX_SVC_LDAP_FAILED,
                                 "There is no \"baseDn\" \"%s\", or \"bindDn\" "
                                 "may not read it.", job->in.base_dn);

    case LDAP_REFERRAL:
        return ngx_svc_ldap_fail(job, NGX_SVC_LDAP_NONE,
                                 "The directory refers to another one for "
                                 "\"baseDn\": \"url\" must name the one that "
                                 "has it.");

    case LDAP_FILTER_ERROR:
        job->gone = 1;
        return ngx_svc_ldap_fail(job, NGX_SVC_LDAP_FAILED,
                                 "libldap does not take %s: %s.",
                                 job->in.page ? "\"syncFilter\""
                                              : "\"userFilter\"",
                                 job->in.filter);

    default:
        return ngx_svc_ldap_broken(job, rc,
                                   "The directory does not search");
    }
}


static ngx_int_t
ngx_svc_ldap_take(ngx_svc_ldap_job_t *job, LDAPMessage *result)
{
    ngx_int_t     rc;
    LDAPMessage  *entry;

    entry = ldap_first_entry(job->conn->ld, result);
    rc = ngx_svc_ldap_entry(job, entry);

    if (rc == NGX_OK && job->in.groups) {
        rc = ngx_svc_ldap_groups_take(job, entry);
    }

    switch (rc) {

    case NGX_OK:
        break;

    case NGX_DECLINED:
        return ngx_svc_ldap_fail(job, NGX_SVC_LDAP_FAILED,
                                 "\"%*s\" has no %s that tells it from others "
                                 "for good: \"uniqueIdAttribute\" has to name "
                                 "an attribute that it has, of %d bytes at "
                                 "most.", ngx_min(job->out.dn.len,
                                                  NGX_SVC_LDAP_DN),
                                 job->out.dn.data,
                                 job->in.unique_id
                                 ? job->in.unique_id
                                 : "objectGUID, entryUUID or nsUniqueId",
                                 NGX_SVC_LDAP_SUBJECT);

    default:
        return ngx_svc_ldap_fail(job, NGX_SVC_LDAP_FAILED,
                                 "There is no memory for the entry.");
    }

    ngx_svc_ldap_did(job, "\"%*s\"%s.",
                     ngx_min(job->out.dn.len, NGX_SVC_LDAP_DN),
                     job->out.dn.data,
                     job->out.disabled ? ", which is disabled" : "");

    return NGX_OK;
}


/*
 * Binds as the user, and again as the service: the connection must not stay the
 * user's.
 */

static ngx_int_t
ngx_svc_ldap_password(ngx_svc_ldap_job_t *job)
{
    int         rc;
    char       *message;
    ngx_int_t   result;

    ngx_svc_ldap_begin(job, NGX_SVC_LDAP_USER_BIND);

    rc = ldap_sasl_bind_s(job->conn->ld, (char *) job->out.dn.data,
                          LDAP_SASL_SIMPLE, &job->in.password, NULL, NULL,
                          NULL);
    if (rc == LDAP_SUCCESS) {
        ngx_svc_ldap_did(job, "The password is right.");
        result = NGX_OK;

    } else {
        message = NULL;
        ldap_get_option(job->conn->ld, LDAP_OPT_DIAGNOSTIC_MESSAGE, &message);
        result = ngx_svc_ldap_refused(job, rc, message);
        ldap_memfree(message);
    }

    if (!job->gone && ngx_svc_ldap_bind(job) != LDAP_SUCCESS) {
        job->gone = 1;

        if (result == NGX_OK && job->in.groups) {
            ngx_svc_ldap_begin(job, NGX_SVC_LDAP_USER_GROUPS);
            return ngx_svc_ldap_fail(job, NGX_SVC_LDAP_FAILED,
                                     "The directory does not bind \"bindDn\" "
                                     "a second time.");
        }
    }

    return result;
}


static ngx_int_t
ngx_svc_ldap_refused(ngx_svc_ldap_job_t *job, int rc, const char *message)
{
    const char              *reason;
    ngx_svc_ldap_outcome_e   outcome;

    switch (rc) {

    case LDAP_INVALID_CREDENTIALS:
    case LDAP_INAPPROPRIATE_AUTH:
    case LDAP_NO_SUCH_OBJECT:
    case LDAP_CONSTRAINT_VIOLATION:
    case LDAP_UNWILLING_TO_PERFORM:
    case LDAP_REFERRAL:
        break;

    default:
        return ngx_svc_ldap_broken(job, rc,
                                   "The directory does not bind the user");
    }

    outcome = NGX_SVC_LDAP_WRONG;
    job->out.code = ngx_svc_ldap_ad_code(message);
    reason = ngx_svc_ldap_ad_reason(job->out.code);

    if (job->out.code == 0x532 || job->out.code == 0x773) {
        outcome = NGX_SVC_LDAP_EXPIRED;

    } else if (rc == LDAP_UNWILLING_TO_PERFORM && job->out.disabled) {

        /* 389 Directory Server refuses so whomever it has locked */

        outcome = NGX_SVC_LDAP_DISABLED;
        reason = "the account is disabled";
    }

    return ngx_svc_ldap_fail(job, outcome,
                             "The directory refuses the password: %s (result "
                             "code %d).",
                             reason ? reason
                                    : "it is wrong, or the account is locked",
                             rc);
}
