/*
 * The check that Redis, by its configuration, keeps what is stored in it.
 */

#include "ngx_svc_redis_storage.h"
#include "ngx_svc_redis_link.h"

#include "ngx_svc_log_limit.h"


#define NGX_SVC_REDIS_EVICTS  0x01
#define NGX_SVC_REDIS_LOSES   0x02

#define NGX_SVC_REDIS_STORAGE_INTERVAL  60000   /* ms, of the same findings */


typedef struct {
    ngx_uint_t            owed;         /* answers that have not come yet */
    ngx_uint_t            findings;     /* those that were logged last */
    ngx_svc_log_limit_t   limit;
    char                  policy[32];   /* cut if it is longer */
    unsigned              silent:1;     /* Redis does not tell */
    unsigned              limited:1;    /* Redis's memory is limited */
    unsigned              appends:1;
    unsigned              saves:1;
} ngx_svc_redis_storage_t;


static void ngx_svc_redis_storage_answer(redisAsyncContext *ac, void *reply,
    void *data);
static void ngx_svc_redis_storage_item(ngx_svc_redis_storage_t *storage,
    const char *name, const char *value);
static void ngx_svc_redis_storage_judge(ngx_svc_redis_storage_t *storage);
static void ngx_svc_redis_storage_log(ngx_svc_redis_storage_t *storage);


static ngx_svc_redis_storage_t  ngx_svc_redis_storage;


/* Several commands are sent: before Redis 7 CONFIG GET takes one pattern. */

void
ngx_svc_redis_check_storage(void)
{
    ngx_uint_t                i;
    ngx_svc_redis_link_t     *link;
    ngx_svc_redis_storage_t  *storage;

    static const char  *const commands[] = {
        "CONFIG GET maxmemory*", "CONFIG GET appendonly", "CONFIG GET save"
    };

    link = ngx_svc_redis_commands();
    storage = &ngx_svc_redis_storage;

    if (link->redis == NULL || storage->owed) {
        return;
    }

    storage->silent = 0;
    storage->limited = 0;
    storage->appends = 0;
    storage->saves = 0;
    storage->policy[0] = '\0';

    for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (redisAsyncCommand(link->redis, ngx_svc_redis_storage_answer, NULL,
                              commands[i])
            == REDIS_OK)
        {
            storage->owed++;

        } else {
            storage->silent = 1;
        }
    }
}


/* Nothing is logged where CONFIG is forbidden, or has another name. */

static void
ngx_svc_redis_storage_answer(redisAsyncContext *ac, void *reply, void *data)
{
    size_t                    i;
    redisReply               *r;
    ngx_svc_redis_storage_t  *storage;

    r = reply;
    storage = &ngx_svc_redis_storage;

    if (r == NULL || r->type != REDIS_REPLY_ARRAY || r->elements < 2) {
        storage->silent = 1;

    } else {
        for (i = 0; i + 1 < r->elements; i += 2) {
            if (r->element[i]->str && r->element[i + 1]->str) {
                ngx_svc_redis_storage_item(storage, r->element[i]->str,
                                           r->element[i + 1]->str);
            }
        }
    }

    if (--storage->owed == 0 && !storage->silent) {
        ngx_svc_redis_storage_judge(storage);
    }
}


static void
ngx_svc_redis_storage_item(ngx_svc_redis_storage_t *storage, const char *name,
    const char *value)
{
    if (ngx_strcmp(name, "maxmemory") == 0) {
        storage->limited = (ngx_strcmp(value, "0") != 0);

    } else if (ngx_strcmp(name, "maxmemory-policy") == 0) {
        (void) ngx_cpystrn((u_char *) storage->policy, (u_char *) value,
                           sizeof(storage->policy));

    } else if (ngx_strcmp(name, "appendonly") == 0) {
        storage->appends = (ngx_strcmp(value, "yes") == 0);

    } else if (ngx_strcmp(name, "save") == 0) {
        storage->saves = (value[0] != '\0');
    }
}


static void
ngx_svc_redis_storage_judge(ngx_svc_redis_storage_t *storage)
{
    ngx_uint_t  findings;

    findings = 0;

    if (storage->limited && ngx_strcmp(storage->policy, "noeviction") != 0) {
        findings |= NGX_SVC_REDIS_EVICTS;
    }

    if (!storage->appends && !storage->saves) {
        findings |= NGX_SVC_REDIS_LOSES;
    }

    if (findings != storage->findings) {
        storage->findings = findings;
        ngx_memzero(&storage->limit, sizeof(ngx_svc_log_limit_t));
    }

    if (ngx_svc_log_limit(&storage->limit, 1, NGX_SVC_REDIS_STORAGE_INTERVAL)) {
        ngx_svc_redis_storage_log(storage);
    }
}


static void
ngx_svc_redis_storage_log(ngx_svc_redis_storage_t *storage)
{
    ngx_svc_redis_link_t  *link;

    link = ngx_svc_redis_commands();

    if (storage->findings & NGX_SVC_REDIS_EVICTS) {
        ngx_log_error(NGX_LOG_WARN, link->timer.log, 0,
                      "Redis %V may throw away what is queued in it, when its "
                      "memory is full: its \"maxmemory-policy\" is to be "
                      "\"noeviction\", and is \"%s\"", &link->conf->name,
                      storage->policy);
    }

    if (storage->findings & NGX_SVC_REDIS_LOSES) {
        ngx_log_error(NGX_LOG_WARN, link->timer.log, 0,
                      "Redis %V loses what is queued in it when it restarts: "
                      "it stores nothing on disk, set \"appendonly yes\"",
                      &link->conf->name);
    }
}
