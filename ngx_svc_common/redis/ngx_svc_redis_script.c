/*
 * Lua scripts: EVALSHA, and EVAL when Redis does not know the script.
 */

#include "ngx_svc_redis_script.h"
#include "ngx_svc_redis_link.h"

#include <ngx_sha1.h>


#define NGX_SVC_REDIS_CALLS       4096          /* without answer, at most */
#define NGX_SVC_REDIS_CALL_BYTES  (16 << 20)    /* of all these, at most */
#define NGX_SVC_REDIS_REFUSED     60000         /* ms between log lines on the
                                                   errors of a script */


/*
 * A call.  It is one block of memory with all that argv points to, since EVAL
 * sends the arguments once more.
 */

typedef struct {
    ngx_svc_redis_script_t   *script;
    ngx_svc_redis_reply_pt    handler;
    void                     *data;
    size_t                    size;
    ngx_uint_t                argc;
    const char              **argv;
    size_t                   *lengths;
    char                      nkeys[NGX_INT_T_LEN + 1];
} ngx_svc_redis_call_t;


static ngx_svc_redis_call_t *ngx_svc_redis_call_create(
    ngx_svc_redis_script_t *script, const ngx_str_t *args, ngx_uint_t nargs,
    ngx_uint_t nkeys);
static ngx_int_t ngx_svc_redis_call_send(ngx_svc_redis_call_t *call,
    const char *command, const char *script);
static void ngx_svc_redis_call_answered(redisAsyncContext *ac, void *reply,
    void *data);
static void ngx_svc_redis_script_refused(ngx_svc_redis_script_t *script,
    redisReply *reply);
static void ngx_svc_redis_script_sha1(ngx_svc_redis_script_t *script);
static void ngx_svc_redis_calls_add(size_t size);
static void ngx_svc_redis_calls_remove(size_t size);
static void ngx_svc_redis_calls_wait(ngx_event_t *ev);


static ngx_uint_t   ngx_svc_redis_calls;
static size_t       ngx_svc_redis_call_bytes;
static ngx_event_t  ngx_svc_redis_calls_timer;


ngx_int_t
ngx_svc_redis_call(ngx_svc_redis_script_t *script, const ngx_str_t *args,
    ngx_uint_t nargs, ngx_uint_t nkeys, ngx_svc_redis_reply_pt handler,
    void *data)
{
    ngx_svc_redis_call_t  *call;

    if (!ngx_svc_redis_ready()) {
        return NGX_DECLINED;
    }

    if (ngx_svc_redis_calls >= NGX_SVC_REDIS_CALLS
        || ngx_svc_redis_call_bytes >= NGX_SVC_REDIS_CALL_BYTES)
    {
        return NGX_BUSY;
    }

    ngx_svc_redis_script_sha1(script);

    call = ngx_svc_redis_call_create(script, args, nargs, nkeys);
    if (call == NULL) {
        return NGX_ERROR;
    }

    call->handler = handler;
    call->data = data;

    if (ngx_svc_redis_call_send(call, "EVALSHA", (char *) script->sha1)
        != NGX_OK)
    {
        ngx_free(call);
        return NGX_DECLINED;
    }

    ngx_svc_redis_calls_add(call->size);

    return NGX_OK;
}


static ngx_svc_redis_call_t *
ngx_svc_redis_call_create(ngx_svc_redis_script_t *script,
    const ngx_str_t *args, ngx_uint_t nargs, ngx_uint_t nkeys)
{
    u_char                *p;
    size_t                 size;
    ngx_uint_t             i, argc;
    ngx_svc_redis_call_t  *call;

    argc = nargs + 3;
    size = sizeof(ngx_svc_redis_call_t)
           + argc * (sizeof(char *) + sizeof(size_t));

    for (i = 0; i < nargs; i++) {
        size += args[i].len;
    }

    call = ngx_alloc(size, ngx_cycle->log);
    if (call == NULL) {
        return NULL;
    }

    call->script = script;
    call->size = size;
    call->argc = argc;
    call->argv = (const char **) (call + 1);
    call->lengths = (size_t *) (call->argv + argc);

    call->argv[2] = call->nkeys;
    call->lengths[2] = ngx_sprintf((u_char *) call->nkeys, "%ui", nkeys)
                       - (u_char *) call->nkeys;

    p = (u_char *) (call->lengths + argc);

    for (i = 0; i < nargs; i++) {
        call->argv[3 + i] = (char *) p;
        call->lengths[3 + i] = args[i].len;
        p = ngx_cpymem(p, args[i].data, args[i].len);
    }

    return call;
}


static ngx_int_t
ngx_svc_redis_call_send(ngx_svc_redis_call_t *call, const char *command,
    const char *script)
{
    ngx_svc_redis_link_t  *link;

    link = ngx_svc_redis_commands();

    if (link->redis == NULL) {
        return NGX_ERROR;
    }

    call->argv[0] = command;
    call->lengths[0] = ngx_strlen(command);
    call->argv[1] = script;
    call->lengths[1] = ngx_strlen(script);

    if (redisAsyncCommandArgv(link->redis, ngx_svc_redis_call_answered, call,
                              (int) call->argc, call->argv, call->lengths)
        != REDIS_OK)
    {
        return NGX_ERROR;
    }

    return NGX_OK;
}


static void
ngx_svc_redis_call_answered(redisAsyncContext *ac, void *reply, void *data)
{
    ngx_svc_redis_call_t *call = data;

    redisReply  *r;

    r = reply;

    if (r && r->type == REDIS_REPLY_ERROR) {

        if (ngx_strncmp(r->str, "NOSCRIPT", 8) == 0
            && ngx_svc_redis_call_send(call, "EVAL", call->script->text)
               == NGX_OK)
        {
            return;
        }

        if (ngx_strstr(r->str, "READONLY ")) {
            ngx_svc_redis_doubt();
        }

        ngx_svc_redis_script_refused(call->script, r);

        if (!call->script->errors) {
            r = NULL;
        }
    }

    ngx_svc_redis_calls_remove(call->size);

    call->handler(r, call->data);

    ngx_free(call);
}


static void
ngx_svc_redis_script_refused(ngx_svc_redis_script_t *script,
    redisReply *reply)
{
    ngx_uint_t  level;

    level = ngx_svc_log_limit_level(&script->refused, 1,
                                    NGX_SVC_REDIS_REFUSED, NGX_LOG_ERR);

    ngx_log_error(level, ngx_cycle->log, 0, "Redis refuses \"%s\": %s",
                  script->name, reply->str);
}


/* Redis 6.2 has the code of a script's error after " -", Redis 7 at first. */

ngx_uint_t
ngx_svc_redis_transient(const redisReply *reply)
{
    size_t              len;
    const char         *p, *const *code;

    static const char  *const codes[] = {
        "LOADING ", "READONLY ", "OOM ", "MISCONF ", "NOREPLICAS ",
        "MASTERDOWN ", "BUSY ", "TRYAGAIN ", "CLUSTERDOWN ", "NOAUTH ",
        "NOPERM ", "NOSCRIPT ", NULL
    };

    if (reply->type != REDIS_REPLY_ERROR) {
        return 0;
    }

    for (code = codes; *code; code++) {
        len = ngx_strlen(*code);

        if (ngx_strncmp(reply->str, *code, len) == 0) {
            return 1;
        }

        p = ngx_strstr(reply->str, *code);

        if (p && p - reply->str >= 2 && p[-1] == '-' && p[-2] == ' ') {
            return 1;
        }
    }

    return 0;
}


static void
ngx_svc_redis_script_sha1(ngx_svc_redis_script_t *script)
{
    u_char      digest[20];
    ngx_sha1_t  sha1;

    if (script->sha1[0]) {
        return;
    }

    ngx_sha1_init(&sha1);
    ngx_sha1_update(&sha1, script->text, ngx_strlen(script->text));
    ngx_sha1_final(digest, &sha1);

    *ngx_hex_dump(script->sha1, digest, sizeof(digest)) = '\0';
}


/*
 * The timer only keeps a worker that quits from ending.  A link that does not
 * answer breaks, and ends all calls.
 */

static void
ngx_svc_redis_calls_add(size_t size)
{
    ngx_svc_redis_call_bytes += size;

    if (ngx_svc_redis_calls++) {
        return;
    }

    ngx_svc_redis_calls_timer.handler = ngx_svc_redis_calls_wait;
    ngx_svc_redis_calls_timer.data = &ngx_svc_redis_calls_timer;
    ngx_svc_redis_calls_timer.log = ngx_cycle->log;

    ngx_add_timer(&ngx_svc_redis_calls_timer,
                  ngx_svc_redis_commands()->conf->timeout);
}


static void
ngx_svc_redis_calls_remove(size_t size)
{
    ngx_svc_redis_call_bytes -= size;

    if (--ngx_svc_redis_calls == 0 && ngx_svc_redis_calls_timer.timer_set) {
        ngx_del_timer(&ngx_svc_redis_calls_timer);
    }
}


static void
ngx_svc_redis_calls_wait(ngx_event_t *ev)
{
    ngx_add_timer(ev, ngx_svc_redis_commands()->conf->timeout);
}


void
ngx_svc_redis_script_forked(void)
{
    ngx_svc_redis_calls = 0;
    ngx_svc_redis_call_bytes = 0;
    ngx_memzero(&ngx_svc_redis_calls_timer, sizeof(ngx_event_t));
}
