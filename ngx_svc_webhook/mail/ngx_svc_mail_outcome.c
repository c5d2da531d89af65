/*
 * The outcome of a mail.
 */

#include "ngx_svc_mail_outcome.h"
#include "ngx_svc_mail_script.h"

#include "ngx_svc_helper_op.h"
#include "ngx_svc_log_limit.h"
#include "ngx_svc_mac.h"
#include "ngx_svc_metrics.h"


#define NGX_SVC_MAIL_FAILURES  10           /* lines in the log, per minute */
#define NGX_SVC_MAIL_MINUTE    60000        /* ms */
#define NGX_SVC_MAIL_LABEL_FAILED  "svc.mail.failed"


typedef struct {
    ngx_svc_metric_e   metric;
    const char        *what;
} ngx_svc_mail_outcome_t;

typedef struct {
    void             (*done)(void *data);
    void              *data;
} ngx_svc_mail_audit_t;


static void ngx_svc_mail_audited(ngx_svc_pg_op_t *op);


static const ngx_svc_mail_outcome_t  ngx_svc_mail_outcomes[] = {
    { NGX_SVC_M_MAIL_SENT, "sent" },
    { NGX_SVC_M_MAIL_REJECTED, "rejected" },
    { NGX_SVC_M_MAIL_FAILED, "failed" },
    { NGX_SVC_M_MAIL_EXPIRED, "expired" }
};


#include "ngx_svc_mail_outcome.sql.h"


static ngx_svc_macs_t       ngx_svc_mail_macs;
static ngx_svc_log_limit_t  ngx_svc_mail_failures;


ngx_int_t
ngx_svc_mail_outcome_init(void)
{
    ngx_svc_main_conf_t  *smcf;

    smcf = ngx_http_cycle_get_module_main_conf(ngx_cycle,
                                               ngx_http_svc_common_module);

    return ngx_svc_mac_init(&ngx_svc_mail_macs, &smcf->keys,
                            NGX_SVC_MAIL_LABEL_FAILED);
}


void
ngx_svc_mail_outcome(const ngx_svc_mail_result_t *result)
{
    ngx_uint_t                     level;
    const ngx_svc_mail_outcome_t  *outcome;

    outcome = &ngx_svc_mail_outcomes[result->outcome];

    ngx_svc_metric_add(outcome->metric, 1);

    if (result->outcome == NGX_SVC_MAIL_SENT) {
        ngx_log_error(NGX_LOG_INFO, ngx_cycle->log, 0,
                      "mail %V (%V) of tenant %V is sent", &result->id,
                      ngx_svc_mail_kind(result->mail->kind),
                      &result->mail->tenant);
        return;
    }

    level = ngx_svc_log_limit_level(&ngx_svc_mail_failures,
                                    NGX_SVC_MAIL_FAILURES,
                                    NGX_SVC_MAIL_MINUTE, NGX_LOG_ERR);

    ngx_log_error(level, ngx_cycle->log, 0,
                  "mail %V (%V) of tenant %V: %s, attempts: %ui, the last "
                  "one: %s, SMTP status %ui", &result->id,
                  ngx_svc_mail_kind(result->mail->kind),
                  &result->mail->tenant, outcome->what, result->attempts,
                  result->error, result->status);
}


u_char *
ngx_svc_mail_outcome_key(u_char key[NGX_SVC_MAIL_FAILED_KEY],
    const ngx_svc_mail_t *mail)
{
    u_char  *p, mac[NGX_SVC_MAC_LEN];
    u_char   text[NGX_SVC_UUID_TEXT_LEN + 256];

    p = ngx_cpymem(text, mail->tenant.data, mail->tenant.len);
    p = ngx_cpymem(p, mail->to.data, ngx_min(mail->to.len, 256));

    ngx_strlow(text, text, p - text);

    if (ngx_svc_mac(&ngx_svc_mail_macs.keys[0], text, p - text, mac)
        != NGX_OK)
    {
        return key;
    }

    p = ngx_cpymem(key, NGX_SVC_MAIL_FAILED, sizeof(NGX_SVC_MAIL_FAILED) - 1);

    return ngx_hex_dump(p, mac, NGX_SVC_MAC_LEN);
}


ngx_int_t
ngx_svc_mail_outcome_audit(const ngx_svc_mail_result_t *result,
    void (*done)(void *data), void *data)
{
    ngx_pool_t            *pool;
    ngx_svc_pg_op_t       *op;
    ngx_svc_pg_call_t     *call;
    ngx_svc_mail_audit_t  *audit;

    op = ngx_svc_helper_op_create(NGX_SVC_PG_WRITE,
                                  (ngx_str_t *) &result->mail->tenant, 1,
                                  ngx_svc_mail_audited, NULL);
    if (op == NULL) {
        return NGX_ERROR;
    }

    pool = op->pool;
    audit = ngx_palloc(pool, sizeof(ngx_svc_mail_audit_t));
    call = ngx_svc_pg_call(op, &ngx_svc_sql_mail_failed);

    if (audit == NULL || call == NULL) {
        ngx_destroy_pool(pool);
        return NGX_ERROR;
    }

    audit->done = done;
    audit->data = data;
    op->data = audit;

    ngx_svc_pg_bind_str(call, (ngx_str_t *) &result->mail->to);
    ngx_svc_pg_bind_str(call, (ngx_str_t *) &result->id);
    ngx_svc_pg_bind_str(call,
                        (ngx_str_t *) ngx_svc_mail_kind(result->mail->kind));
    ngx_svc_pg_bind(call,
                    (u_char *) ngx_svc_mail_outcomes[result->outcome].what,
                    ngx_strlen(ngx_svc_mail_outcomes[result->outcome].what));

    if (ngx_svc_pg_bind_int(op, call, result->status) != NGX_OK
        || ngx_svc_pg_bind_int(op, call, result->attempts) != NGX_OK
        || ngx_svc_pg_submit(op) != NGX_OK)
    {
        ngx_destroy_pool(pool);
        return NGX_ERROR;
    }

    return NGX_OK;
}


static void
ngx_svc_mail_audited(ngx_svc_pg_op_t *op)
{
    ngx_svc_mail_audit_t  audit;

    audit = *(ngx_svc_mail_audit_t *) op->data;

    if (op->status != NGX_SVC_PG_OK) {
        ngx_svc_pg_op_failed(op, "that a mail has failed cannot be written to "
                             "the audit log");
    }

    ngx_destroy_pool(op->pool);

    audit.done(audit.data);
}
