/*
 * A sign-in with a password that the tenant's directory has.
 *
 * It begins as any other, and a round trip reads what the directory is asked
 * with.  Another one reads whose the entry is that it has found, whatever it
 * says of the password: failures count for that account, too, and its lock
 * keeps out whoever comes by another address.  When the password is right, all
 * goes on as with a proof of another server; when not, as with one that is
 * wrong.
 */

#include "ngx_svc_directory_login.h"
#include "ngx_svc_directory_groups.h"
#include "ngx_svc_directory_person.h"
#include "ngx_svc_federation_login.h"
#include "ngx_svc_federation_match.h"
#include "ngx_svc_federation_method.h"
#include "ngx_svc_federation_proof.h"
#include "ngx_svc_federation_read.h"
#include "ngx_svc_ldap_directory.h"
#include "ngx_svc_ldap_kept.h"
#include "ngx_svc_login_failure.h"
#include "ngx_svc_login_refused.h"
#include "ngx_svc_login_write.h"
#include "ngx_svc_notice.h"
#include "ngx_svc_profile.h"


#define NGX_SVC_DIRECTORY_USUAL  200    /* ms of a complete sign-in, when none
                                           is known */


/* sr->data, of the request's pool. */

typedef struct {
    ngx_svc_federation_flow_t  flow;    /* first */
    ngx_svc_ldap_directory_t   directory;
    ngx_svc_ldap_t             ldap;
    u_char                     typed[NGX_SVC_UUID_LEN];    /* flow.typed */
    ngx_str_t                  other;   /* whose the entry is, if it is somebody
                                           else's; or no data */
} ngx_svc_directory_login_t;


#define ngx_svc_directory_login_param(field)                                  \
    ngx_svc_param_data(ngx_svc_directory_login_t, field)


static ngx_int_t ngx_svc_directory_login_ask(ngx_svc_login_t *login,
    const ngx_str_t *id);
static ngx_int_t ngx_svc_directory_login_calls(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_directory_login_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_directory_login_send(ngx_svc_directory_login_t *d);
static void ngx_svc_directory_login_asked(ngx_svc_ldap_t *ldap);
static ngx_int_t ngx_svc_directory_login_outcome(
    ngx_svc_directory_login_t *d);
static ngx_int_t ngx_svc_directory_login_proof(ngx_svc_directory_login_t *d);
static ngx_int_t ngx_svc_directory_login_address(
    ngx_svc_directory_login_t *d);
static ngx_int_t ngx_svc_directory_login_known(
    ngx_svc_federation_flow_t *flow);
static ngx_int_t ngx_svc_directory_login_expired(ngx_svc_directory_login_t *d);
static ngx_int_t ngx_svc_directory_login_expired_reply(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_directory_login_wrong(ngx_svc_directory_login_t *d);
static void ngx_svc_directory_login_reason(ngx_svc_directory_login_t *d);
static ngx_int_t ngx_svc_directory_login_fail(ngx_svc_request_t *sr);
static void ngx_svc_directory_login_failed(
    const ngx_svc_pg_results_t *results);
static ngx_int_t ngx_svc_directory_login_away(ngx_svc_request_t *sr);
static ngx_int_t ngx_svc_directory_login_lost(ngx_svc_request_t *sr);
static void ngx_svc_directory_login_complete(ngx_svc_federation_flow_t *flow);


#include "ngx_svc_directory_login.sql.h"


const ngx_svc_login_directory_t  ngx_svc_directory_login = {
    .size = sizeof(ngx_svc_directory_login_t),
    .ask = ngx_svc_directory_login_ask
};


static const ngx_svc_login_method_t  ngx_svc_directory_login_method = {
    .methods = ngx_string("{" NGX_SVC_DIRECTORY_METHOD "}"),
    .error = NGX_SVC_E_CREDENTIALS,
    .wrong = "The e-mail address or the password is wrong.",
    .lost = ngx_svc_directory_login_lost,
    .check = &ngx_svc_sql_federation_match,
    .session = &ngx_svc_sql_federation_session,
    .user_done = &ngx_svc_sql_signin_user_done,
    .proof = ngx_svc_federation_login_proof,
    .committed = ngx_svc_federation_login_committed
};


static ngx_int_t
ngx_svc_directory_login_ask(ngx_svc_login_t *login, const ngx_str_t *id)
{
    ngx_svc_directory_login_t  *d;

    d = login->sr->data;
    login->method = &ngx_svc_directory_login_method;

    if (ngx_svc_federation_flow_id(&d->flow, &d->flow.directory, id)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_request_again(login->sr, NGX_SVC_PG_READ,
                                 ngx_svc_directory_login_calls,
                                 ngx_svc_directory_login_reply);
}


static ngx_int_t
ngx_svc_directory_login_calls(ngx_svc_request_t *sr)
{
    static const ngx_svc_pg_statement_t *const  list[] = {
        &ngx_svc_sql_signin_tenant_again,
        &ngx_svc_sql_ldap_directory,
        NULL
    };

    return ngx_svc_login_calls(sr, list);
}


/*
 * The row is looked at once more: nobody's password is sent to where an owner
 * has not said.
 */

static ngx_int_t
ngx_svc_directory_login_reply(ngx_svc_request_t *sr)
{
    PGresult                   *res;
    ngx_int_t                   rc;
    ngx_svc_directory_login_t  *d;

    d = sr->data;
    res = ngx_svc_result(sr, &ngx_svc_sql_ldap_directory);

    rc = PQntuples(res) ? ngx_svc_ldap_directory(sr, sr->request->pool, res,
                                                 &d->directory)
                        : NGX_DECLINED;

    if (rc == NGX_OK
        && (!d->directory.vouched
            || ngx_memcmp(d->directory.id, d->flow.directory.data,
                          NGX_SVC_UUID_LEN)
               != 0))
    {
        rc = NGX_DECLINED;
    }

    if (rc == NGX_DECLINED) {
        return ngx_svc_directory_login_away(sr);
    }

    return rc == NGX_OK ? ngx_svc_directory_login_send(d)
                        : NGX_HTTP_INTERNAL_SERVER_ERROR;
}


static ngx_int_t
ngx_svc_directory_login_send(ngx_svc_directory_login_t *d)
{
    ngx_svc_ldap_t      *ldap;
    ngx_svc_login_t     *login;
    ngx_http_request_t  *r;

    ldap = &d->ldap;
    login = &d->flow.login;
    r = login->sr->request;

    ldap->pool = r->pool;
    ldap->directory = &d->directory;
    ldap->email = login->asked.email;
    ldap->password = login->password.sent;
    ldap->groups = d->directory.mapped.n != 0;
    ldap->handler = ngx_svc_directory_login_asked;
    ldap->data = d;

    switch (ngx_svc_ldap(ldap)) {

    case NGX_OK:
        r->main->count++;
        return NGX_DONE;

    case NGX_DECLINED:
        return ngx_svc_directory_login_outcome(d);

    default:
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }
}


/* Called from an event, which holds a reference to the request. */

static void
ngx_svc_directory_login_asked(ngx_svc_ldap_t *ldap)
{
    ngx_connection_t           *c;
    ngx_http_request_t         *r;
    ngx_svc_directory_login_t  *d;

    d = ldap->data;
    r = d->flow.login.sr->request;
    c = r->connection;

    ngx_http_set_log_request(c->log, r);

    ngx_http_finalize_request(r, ngx_svc_directory_login_outcome(d));

    ngx_http_run_posted_requests(c);
}


static ngx_int_t
ngx_svc_directory_login_outcome(ngx_svc_directory_login_t *d)
{
    ngx_msec_t        usual;
    ngx_svc_login_t  *login;

    login = &d->flow.login;
    usual = d->ldap.usual ? d->ldap.usual : NGX_SVC_DIRECTORY_USUAL;

    login->password.floor = usual + (usual + 1) / 2;

    if (login->user.data) {
        ngx_memcpy(d->typed, login->user.data, NGX_SVC_UUID_LEN);
        d->flow.typed.data = d->typed;
        d->flow.typed.len = NGX_SVC_UUID_LEN;
    }

    switch (d->ldap.outcome) {

    case NGX_SVC_LDAP_FOUND:
    case NGX_SVC_LDAP_WRONG:
    case NGX_SVC_LDAP_DISABLED:
    case NGX_SVC_LDAP_EXPIRED:

        /* for a password that is not sent no entry is looked for */

        return d->ldap.subject.len ? ngx_svc_directory_login_proof(d)
                                   : ngx_svc_directory_login_wrong(d);

    case NGX_SVC_LDAP_NONE:
    case NGX_SVC_LDAP_MANY:
        return ngx_svc_directory_login_wrong(d);

    default:
        ngx_log_error(NGX_LOG_INFO, login->sr->request->connection->log, 0,
                      "svc: a tenant's directory is not asked for a password: "
                      "%V", &d->ldap.why);
        return ngx_svc_directory_login_away(login->sr);
    }
}


/* What the directory has bound is as fresh as a password. */

static ngx_int_t
ngx_svc_directory_login_proof(ngx_svc_directory_login_t *d)
{
    ngx_uint_t                  i;
    ngx_svc_federation_flow_t  *flow;

    flow = &d->flow;

    for (i = 0; i < NGX_SVC_ATTRIBUTES; i++) {
        if (i != NGX_SVC_ATTRIBUTE_EMAIL) {
            flow->proof.attributes[i] =
                ngx_svc_federation_proof_value(&d->ldap.values[i],
                                               NGX_SVC_PROFILE_MAX);
        }
    }

    /* the entry tells who it is, and no address that is typed */

    ngx_str_null(&flow->login.user);

    flow->version = d->directory.version;
    flow->known = ngx_svc_directory_login_known;
    flow->complete = ngx_svc_directory_login_complete;
    flow->connection.id = flow->directory;
    ngx_str_set(&flow->connection.key, NGX_SVC_DIRECTORY_METHOD);

    if (ngx_svc_federation_proof_subject(flow, &d->ldap.subject) != NGX_OK
        || ngx_svc_federation_proof_time(flow, ngx_time()) != NGX_OK
        || ngx_svc_directory_login_address(d) != NGX_OK
        || ngx_svc_directory_groups(flow, &d->directory, &d->ldap) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_svc_federation_read(flow);
}


/*
 * The address that the entry has, or else the one that is typed.  Where the
 * filter takes what is before the "@", the entry need not be of whoever has the
 * typed address, unless all have one domain.
 */

static ngx_int_t
ngx_svc_directory_login_address(ngx_svc_directory_login_t *d)
{
    ngx_str_t   email;
    ngx_uint_t  proved;

    email = d->ldap.values[NGX_SVC_ATTRIBUTE_EMAIL];
    proved = 1;

    if (!ngx_svc_directory_mailbox(&email)) {
        email = d->flow.login.asked.email;
        proved = ngx_svc_directory_mailbox(&email)
                 && (d->directory.alone
                     || ngx_strlcasestrn(d->directory.user_filter.data,
                                         d->directory.user_filter.data
                                         + d->directory.user_filter.len,
                                         (u_char *) "{email}",
                                         sizeof("{email}") - 2)
                        != NULL);
    }

    return ngx_svc_federation_proof_email(&d->flow, &email, proved);
}


/*
 * Where the lock is another account's than that of the typed address, an answer
 * that tells of it would tell that the password is right.
 */

static ngx_int_t
ngx_svc_directory_login_known(ngx_svc_federation_flow_t *flow)
{
    ngx_int_t                   seconds;
    ngx_uint_t                  right, locked;
    ngx_svc_login_t            *login;
    ngx_svc_directory_login_t  *d;

    d = (ngx_svc_directory_login_t *) flow;
    login = &flow->login;

    locked = ngx_svc_federation_locked(login->sr, &seconds);

    if (seconds) {
        return ngx_svc_login_lost(login->sr, seconds);
    }

    right = d->ldap.outcome == NGX_SVC_LDAP_FOUND
            || d->ldap.outcome == NGX_SVC_LDAP_EXPIRED;

    if (right && !locked) {
        return d->ldap.outcome == NGX_SVC_LDAP_FOUND
               ? NGX_DECLINED : ngx_svc_directory_login_expired(d);
    }

    if (right) {
        ngx_str_set(&login->written.reason, "locked");
    }

    if (login->user.data && !ngx_svc_same(&login->user, &flow->typed)) {
        d->other = login->user;
    }

    return ngx_svc_directory_login_wrong(d);
}


static ngx_int_t
ngx_svc_directory_login_expired(ngx_svc_directory_login_t *d)
{
    ngx_svc_directory_login_reason(d);

    return ngx_svc_request_again(d->flow.login.sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_login_failure_right,
                                 ngx_svc_directory_login_expired_reply);
}


static ngx_int_t
ngx_svc_directory_login_expired_reply(ngx_svc_request_t *sr)
{
    (void) ngx_svc_fail(&sr->error, NGX_SVC_E_DIRECTORY_EXPIRED,
                        "The password has expired: change it in your "
                        "directory.");

    return ngx_svc_send_error(sr);
}


/* Whoever is not found, or may not sign in, is told as late as anybody. */

static ngx_int_t
ngx_svc_directory_login_wrong(ngx_svc_directory_login_t *d)
{
    ngx_svc_login_t  *login;

    login = &d->flow.login;

    login->user = d->flow.typed;
    login->reason = NGX_SVC_LOGIN_WRONG;

    if (login->written.reason.len == 0) {
        ngx_svc_directory_login_reason(d);
    }

    return ngx_svc_request_again(login->sr, NGX_SVC_PG_WRITE,
                                 ngx_svc_directory_login_fail,
                                 ngx_svc_login_failure_reply);
}


/* Active Directory says in its code what else is wrong than the password. */

static void
ngx_svc_directory_login_reason(ngx_svc_directory_login_t *d)
{
    ngx_uint_t  i;
    ngx_str_t  *reason;

    static const struct {
        ngx_uint_t  code;
        ngx_str_t   reason;
    } codes[] = {
        { 0x530, ngx_string("directory_hours") },
        { 0x531, ngx_string("directory_workstation") },
        { 0x533, ngx_string("directory_disabled") },
        { 0x701, ngx_string("directory_account_expired") },
        { 0x775, ngx_string("directory_locked") }
    };

    reason = &d->flow.login.written.reason;

    switch (d->ldap.outcome) {

    case NGX_SVC_LDAP_NONE:
        ngx_str_set(reason, "unknown");
        break;

    case NGX_SVC_LDAP_MANY:
        ngx_str_set(reason, "directory_ambiguous");
        break;

    case NGX_SVC_LDAP_DISABLED:
        ngx_str_set(reason, "directory_disabled");
        break;

    case NGX_SVC_LDAP_EXPIRED:
        ngx_str_set(reason, "directory_password_expired");
        break;

    default:
        ngx_str_set(reason, "wrong");

        for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
            if (d->ldap.code == codes[i].code) {
                *reason = codes[i].reason;
            }
        }
    }
}


/* Users are locked in the order of their ids, when there are two. */

static ngx_int_t
ngx_svc_directory_login_fail(ngx_svc_request_t *sr)
{
    ngx_int_t                      rc;
    ngx_uint_t                     first;
    ngx_svc_directory_login_t     *d;
    const ngx_svc_pg_statement_t  *typed, *other;

    d = sr->data;
    typed = &ngx_svc_sql_signin_failure;
    other = d->other.data ? &ngx_svc_sql_directory_failure : NULL;

    first = d->other.data && d->flow.typed.data
            && ngx_memcmp(d->other.data, d->typed, NGX_SVC_UUID_LEN) < 0;

    sr->op->committed = ngx_svc_directory_login_failed;

    rc = ngx_svc_login_calls(sr, (const ngx_svc_pg_statement_t *const []) {
        &ngx_svc_sql_signin_tenant_write,
        first ? other : typed,
        first ? typed : other,
        NULL
    });

    return rc == NGX_OK && d->ldap.outcome == NGX_SVC_LDAP_MANY
           ? ngx_svc_route_call(sr, &ngx_svc_sql_directory_ambiguous, NULL)
           : rc;
}


static void
ngx_svc_directory_login_failed(const ngx_svc_pg_results_t *results)
{
    ngx_svc_login_failed(results);
    ngx_svc_notice(NGX_SVC_MAIL_LOCKED,
                   ngx_svc_pg_result(results, &ngx_svc_sql_directory_failure));
}


static ngx_int_t
ngx_svc_directory_login_away(ngx_svc_request_t *sr)
{
    (void) ngx_svc_directory_login_lost(sr);

    return ngx_svc_send_error(sr);
}


/* A lock that has come since it was looked for is no answer of its own. */

static ngx_int_t
ngx_svc_directory_login_lost(ngx_svc_request_t *sr)
{
    ngx_int_t  seconds;

    if (ngx_svc_federation_locked(sr, &seconds)) {
        return ngx_svc_login_wrong(sr);
    }

    return ngx_svc_fail(&sr->error, NGX_SVC_E_UNAVAILABLE,
                        "The directory cannot be asked just now: try again.");
}


static void
ngx_svc_directory_login_complete(ngx_svc_federation_flow_t *flow)
{
    ngx_svc_directory_login_t  *d;

    d = (ngx_svc_directory_login_t *) flow;

    ngx_svc_ldap_complete(&d->directory,
                          ngx_current_msec - flow->login.password.began);
}
