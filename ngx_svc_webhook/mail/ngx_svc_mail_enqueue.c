/*
 * In a worker: queues mails in Redis.
 */

#include "ngx_svc_mail_enqueue.h"
#include "ngx_svc_mail_address.h"
#include "ngx_svc_mail_entry.h"
#include "ngx_svc_mail_script.h"
#include "ngx_svc_webhook.h"

#include "ngx_svc_metrics.h"


#define NGX_SVC_MAIL_CAPACITY  "10000"
#define NGX_SVC_MAIL_SHARE     "2500"       /* a tenant's share of the
                                               capacity */
#define NGX_SVC_MAIL_INTERVAL  10000        /* ms between lines in the log */


static ngx_int_t ngx_svc_mail_enqueue(const ngx_svc_mail_t *mail);
static ngx_int_t ngx_svc_mail_enqueue_entry(const ngx_svc_mail_t *mail,
    const ngx_str_t *entry);
static void ngx_svc_mail_enqueued(redisReply *reply, void *data);
static void ngx_svc_mail_drop(const char *why);


static const ngx_svc_mail_sender_t  ngx_svc_mail_worker = {
    ngx_svc_redis_ready,
    ngx_svc_mail_enqueue,
    ngx_svc_mail_drop
};

static ngx_svc_log_limit_t  ngx_svc_mail_drops;


void
ngx_svc_mail_enqueue_init(void)
{
    ngx_svc_mail_listen(&ngx_svc_mail_worker);
}


void
ngx_svc_mail_enqueue_exit(void)
{
    ngx_svc_mail_listen(NULL);
}


static ngx_int_t
ngx_svc_mail_enqueue(const ngx_svc_mail_t *mail)
{
    u_char                id[NGX_SVC_ENTRY_ID], text[NGX_SVC_MAIL_ENTRY_MAX];
    ngx_int_t             rc;
    ngx_str_t             entry;
    ngx_svc_main_conf_t  *smcf;

    if (!ngx_svc_redis_ready() || ngx_svc_mail_address(&mail->to) != NGX_OK) {
        return NGX_DECLINED;
    }

    smcf = ngx_http_cycle_get_module_main_conf(ngx_cycle,
                                               ngx_http_svc_common_module);

    if (ngx_svc_random_id(id) != NGX_OK) {
        return NGX_ERROR;
    }

    entry.data = text;
    rc = ngx_svc_mail_entry_seal(&smcf->keys, mail, id, text, &entry.len);

    return rc == NGX_OK ? ngx_svc_mail_enqueue_entry(mail, &entry) : rc;
}


static ngx_int_t
ngx_svc_mail_enqueue_entry(const ngx_svc_mail_t *mail, const ngx_str_t *entry)
{
    ngx_int_t  rc;
    ngx_str_t  args[7];

    ngx_str_set(&args[0], NGX_SVC_MAIL_QUEUE);
    ngx_str_set(&args[1], NGX_SVC_MAIL_PENDING);
    ngx_str_set(&args[2], NGX_SVC_MAIL_CAPACITY);
    ngx_str_set(&args[3], NGX_SVC_MAIL_SHARE);
    args[4] = mail->tenant;
    args[5] = *entry;
    ngx_str_set(&args[6], "0");

    if (mail->nobody) {
        ngx_str_set(&args[6], "1");
    }

    rc = ngx_svc_redis_call(&ngx_svc_mail_enqueue_script, args, 7, 2,
                            ngx_svc_mail_enqueued,
                            mail->nobody ? &ngx_svc_mail_enqueue_script : NULL);

    if (rc != NGX_OK && !mail->nobody) {
        ngx_svc_mail_drop("Redis does not take it");
    }

    return rc == NGX_BUSY ? NGX_DECLINED : rc;
}


/* data: NULL, unless the mail was only checked, not queued. */

static void
ngx_svc_mail_enqueued(redisReply *reply, void *data)
{
    if (data) {
        return;
    }

    if (reply == NULL || reply->type != REDIS_REPLY_INTEGER) {
        ngx_svc_mail_drop("Redis has not confirmed it");
        return;
    }

    switch (reply->integer) {

    case 0:
        ngx_svc_metric_add(NGX_SVC_M_MAIL_QUEUED, 1);
        break;

    case 1:
        ngx_svc_mail_drop("the queue is full, of " NGX_SVC_MAIL_CAPACITY);
        break;

    default:
        ngx_svc_mail_drop("the tenant's share of the queue is full, of "
                          NGX_SVC_MAIL_SHARE);
    }
}


static void
ngx_svc_mail_drop(const char *why)
{
    ngx_uint_t  level;

    ngx_svc_metric_add(NGX_SVC_M_MAIL_DROPPED, 1);

    level = ngx_svc_log_limit_level(&ngx_svc_mail_drops, 1,
                                    NGX_SVC_MAIL_INTERVAL, NGX_LOG_ERR);

    ngx_log_error(level, ngx_cycle->log, 0, "a mail is dropped: %s", why);
}
