/*
 * A new password: what the policy of its user asks of it, and its hash.
 */

#include "ngx_svc_new_password.h"
#include "ngx_svc_admin_conf.h"
#include "ngx_svc_password_check.h"
#include "ngx_svc_password_text.h"


#define NGX_SVC_NEW_PASSWORD_WORDS  6


/* A check, in the job's pool: a thread reads it, and writes the reason. */

typedef struct {
    ngx_str_t                        password;
    ngx_svc_password_policy_t        policy;
    ngx_svc_password_word_t          words[NGX_SVC_NEW_PASSWORD_WORDS];
    const ngx_svc_breached_t        *breached;
    ngx_svc_password_reason_t        reason;
} ngx_svc_new_password_check_t;


static ngx_svc_new_password_check_t *ngx_svc_new_password_check(
    ngx_svc_request_t *sr, ngx_svc_password_job_t *job, PGresult *res);
static ngx_int_t ngx_svc_new_password_words(
    ngx_svc_new_password_check_t *check, ngx_pool_t *pool, PGresult *res);
static ngx_int_t ngx_svc_new_password_old(ngx_svc_request_t *sr,
    ngx_svc_password_job_t *job, const ngx_svc_stored_row_t *row,
    PGresult *res);
static ngx_int_t ngx_svc_new_password_add(ngx_svc_request_t *sr,
    ngx_svc_password_job_t *job, const ngx_svc_stored_row_t *row,
    ngx_str_t *hex);
static ngx_int_t ngx_svc_new_password_run(void *data);
static ngx_int_t ngx_svc_new_password_copy(ngx_pool_t *pool,
    const u_char *text, size_t len, ngx_str_t *password);


typedef struct {
    const char               *column;
    ngx_svc_password_word_e   kind;
} ngx_svc_new_password_word_t;

static const ngx_svc_new_password_word_t  ngx_svc_new_password_known[] = {
    { "_email", NGX_SVC_PASSWORD_EMAIL },
    { "_first", NGX_SVC_PASSWORD_NAME },
    { "_last", NGX_SVC_PASSWORD_NAME },
    { "_display", NGX_SVC_PASSWORD_NAME },
    { "_slug", NGX_SVC_PASSWORD_TENANT },
    { "_name", NGX_SVC_PASSWORD_TENANT }
};


typedef struct {
    const char  *column;
    size_t       offset;
} ngx_svc_new_password_rule_t;

#define ngx_svc_new_password_rule(name)                                       \
    { #name, offsetof(ngx_svc_password_policy_t, name) }

static const ngx_svc_new_password_rule_t  ngx_svc_new_password_rules[] = {
    ngx_svc_new_password_rule(reject_breached),
    ngx_svc_new_password_rule(reject_contextual),
    ngx_svc_new_password_rule(require_lower),
    ngx_svc_new_password_rule(require_upper),
    ngx_svc_new_password_rule(require_digit),
    ngx_svc_new_password_rule(require_symbol),
    { NULL, 0 }
};


ngx_svc_password_job_t *
ngx_svc_new_password_job(ngx_svc_request_t *sr, const ngx_str_t *password,
    const ngx_svc_stored_row_t *row, PGresult *res)
{
    ngx_svc_password_job_t        *job;
    ngx_svc_new_password_check_t  *check;

    job = ngx_svc_password_create(sr->request->pool, password);
    if (job == NULL) {
        return NULL;
    }

    check = ngx_svc_new_password_check(sr, job, res);

    if (check == NULL || ngx_svc_new_password_old(sr, job, row, res) != NGX_OK)
    {
        ngx_svc_password_cancel(job);
        return NULL;
    }

    job->work.check = ngx_svc_new_password_run;
    job->work.check_data = check;
    job->work.make = NGX_SVC_PASSWORD_NEW;

    return job;
}


static ngx_svc_new_password_check_t *
ngx_svc_new_password_check(ngx_svc_request_t *sr, ngx_svc_password_job_t *job,
    PGresult *res)
{
    ngx_str_t                           length;
    ngx_svc_admin_main_conf_t          *amcf;
    ngx_svc_new_password_check_t       *check;
    const ngx_svc_new_password_rule_t  *rule;

    check = ngx_pcalloc(job->task.pool,
                        sizeof(ngx_svc_new_password_check_t));

    if (check == NULL
        || ngx_svc_new_password_words(check, job->task.pool, res) != NGX_OK)
    {
        return NULL;
    }

    amcf = ngx_http_get_module_main_conf(sr->request,
                                         ngx_http_svc_admin_module);

    check->breached = amcf->breached;
    check->password = job->work.password;

    length = ngx_svc_row_value(res, 0, "min_length");
    check->policy.min_length = ngx_atoi(length.data, length.len);

    for (rule = ngx_svc_new_password_rules; rule->column; rule++) {
        *(ngx_uint_t *) ((u_char *) &check->policy + rule->offset)
            = ngx_svc_row_true(res, 0, rule->column);
    }

    return check;
}


static ngx_int_t
ngx_svc_new_password_words(ngx_svc_new_password_check_t *check,
    ngx_pool_t *pool, PGresult *res)
{
    ngx_str_t                value;
    ngx_uint_t               i;
    ngx_svc_password_word_t *word;

    for (i = 0; i < NGX_SVC_NEW_PASSWORD_WORDS; i++) {
        word = &check->words[i];
        value = ngx_svc_row_value(res, 0, ngx_svc_new_password_known[i].column);

        word->kind = ngx_svc_new_password_known[i].kind;
        word->text.len = value.len;
        word->text.data = ngx_pnalloc(pool, value.len + 1);

        if (word->text.data == NULL) {
            return NGX_ERROR;
        }

        ngx_memcpy(word->text.data, value.data ? value.data : (u_char *) "",
                   value.len);
    }

    return NGX_OK;
}


/* Adds the present hash, and as many former ones as the policy says. */

static ngx_int_t
ngx_svc_new_password_old(ngx_svc_request_t *sr, ngx_svc_password_job_t *job,
    const ngx_svc_stored_row_t *row, PGresult *res)
{
    u_char     *p, *end, *comma, *text;
    ngx_str_t   hex, history;

    hex = ngx_svc_row_value(res, 0, "_hash");

    if (hex.data && ngx_svc_new_password_add(sr, job, row, &hex) != NGX_OK) {
        return NGX_ERROR;
    }

    history = ngx_svc_row_value(res, 0, "_history");
    end = history.data + history.len;

    for (p = history.data; p && p < end; p = comma + 1) {

        comma = ngx_strlchr(p, end, ',');
        if (comma == NULL) {
            comma = end;
        }

        hex.len = comma - p + 2;

        text = ngx_pnalloc(sr->request->pool, hex.len);
        if (text == NULL) {
            return NGX_ERROR;
        }

        hex.data = text;
        text = ngx_cpymem(text, "\\x", 2);
        ngx_memcpy(text, p, comma - p);

        if (ngx_svc_new_password_add(sr, job, row, &hex) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


/* A hash that cannot be opened is left out, as it cannot be compared. */

static ngx_int_t
ngx_svc_new_password_add(ngx_svc_request_t *sr, ngx_svc_password_job_t *job,
    const ngx_svc_stored_row_t *row, ngx_str_t *hex)
{
    ngx_int_t  rc;
    ngx_str_t  phc;

    rc = ngx_svc_stored_open(sr, row, hex, &phc);

    return rc == NGX_OK ? ngx_svc_password_add(job, &phc)
                        : rc == NGX_DECLINED ? NGX_OK : NGX_ERROR;
}


/* Runs in a thread. */

static ngx_int_t
ngx_svc_new_password_run(void *data)
{
    ngx_svc_new_password_check_t  *check = data;

    return ngx_svc_password_check(&check->password, &check->policy,
                                  check->words, NGX_SVC_NEW_PASSWORD_WORDS,
                                  check->breached, &check->reason);
}


ngx_int_t
ngx_svc_new_password_result(ngx_svc_request_t *sr, ngx_svc_password_job_t *job,
    const ngx_svc_stored_row_t *row, ngx_str_t *sealed)
{
    ngx_str_t                      reason;
    ngx_svc_new_password_check_t  *check;

    check = job->work.check_data;

    if (job->rc == NGX_BUSY) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_UNAVAILABLE,
                            "Too many passwords are being checked: try "
                            "again.");
    }

    if (job->rc != NGX_OK) {
        return NGX_ERROR;
    }

    if (job->work.checked != NGX_OK) {
        reason.data = check->reason.data;
        reason.len = check->reason.len;

        return ngx_svc_fail(&sr->error, NGX_SVC_E_PASSWORD_REJECTED, "%V",
                            &reason);
    }

    if (job->work.matched != -1) {
        return ngx_svc_fail(&sr->error, NGX_SVC_E_PASSWORD_REJECTED,
                            "historyCount: the password was in use before: "
                            "choose another one.");
    }

    return ngx_svc_stored_seal(sr, row, job->work.made, job->work.made_len,
                               sealed);
}


ngx_int_t
ngx_svc_new_password_text(ngx_svc_request_t *sr, const char *name,
    const ngx_str_t *text, ngx_str_t *password)
{
    u_char       normal[NGX_SVC_PASSWORD_TEXT];
    size_t       len, points;
    ngx_int_t    rc;
    ngx_pool_t  *pool;
    const char  *wrong;

    pool = sr->request->pool;

    /* a refused text may be almost the password: it is wiped, too */

    if (ngx_svc_wipe_later(pool, sr->body.data, sr->body.len) != NGX_OK
        || ngx_svc_wipe_later(pool, text->data, text->len) != NGX_OK)
    {
        return NGX_ERROR;
    }

    wrong = ngx_svc_password_text(text->data, text->len, normal, &len,
                                  &points);

    if (wrong == NULL) {
        rc = ngx_svc_new_password_copy(pool, normal, len, password);

    } else if (wrong == ngx_svc_password_text_no_memory) {
        rc = NGX_ERROR;

    } else {
        rc = ngx_svc_fail(&sr->error, NGX_SVC_E_INVALID_VALUE,
                          "\"%s\" %s.", name, wrong);
    }

    ngx_explicit_memzero(normal, sizeof(normal));

    return rc;
}


static ngx_int_t
ngx_svc_new_password_copy(ngx_pool_t *pool, const u_char *text, size_t len,
    ngx_str_t *password)
{
    password->len = len;
    password->data = ngx_pnalloc(pool, len);

    if (password->data == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(password->data, text, len);

    return ngx_svc_wipe_later(pool, password->data, len);
}
