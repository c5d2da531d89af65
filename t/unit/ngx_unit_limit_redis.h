/*
 * For unit tests of limits: this file replaces the functions of the connection
 * to Redis by its own, which keep the call and its arguments.
 */

#ifndef _NGX_UNIT_LIMIT_REDIS_H_INCLUDED_
#define _NGX_UNIT_LIMIT_REDIS_H_INCLUDED_


#include "ngx_unit_limit.h"
#include "ngx_svc_limit.h"
#include "ngx_svc_metrics.h"
#include "ngx_svc_redis_script.h"


#define NGX_UNIT_LIMIT_SIZE  65536


sig_atomic_t  ngx_terminate;
sig_atomic_t  ngx_quit;

static ngx_shm_zone_t           zone;
static ngx_pool_t              *pool;
static ngx_svc_settings_t       settings;
static ngx_uint_t               metrics[NGX_SVC_M_COUNTERS];
static ngx_uint_t               answers;        /* calls of handlers */

static ngx_uint_t               up;
static ngx_int_t                taken;          /* what a call returns */
static ngx_uint_t               calls;
static ngx_svc_redis_reply_pt   call_handler;
static void                    *call_data;
static char                     call_text[1024];


ngx_uint_t
ngx_svc_redis_ready(void)
{
    return up;
}


ngx_svc_redis_state_e
ngx_svc_redis_state(void)
{
    return NGX_SVC_REDIS_OFF;
}


void
ngx_svc_metric_add(ngx_svc_metric_e metric, ngx_uint_t n)
{
    metrics[metric] += n;
}


ngx_int_t
ngx_svc_redis_call(ngx_svc_redis_script_t *script, const ngx_str_t *args,
    ngx_uint_t nargs, ngx_uint_t nkeys, ngx_svc_redis_reply_pt handler,
    void *data)
{
    u_char      *p, *last;
    ngx_uint_t   i;

    if (!up || taken != NGX_OK) {
        return up ? taken : NGX_DECLINED;
    }

    p = (u_char *) call_text;
    last = p + sizeof(call_text) - 1;
    p = ngx_slprintf(p, last, "%s:", script->name);

    for (i = 0; i < nargs; i++) {
        p = ngx_slprintf(p, last, "%s%V", i == nkeys ? " | " : " ", &args[i]);
    }

    *p = '\0';
    calls++;
    call_handler = handler;
    call_data = data;

    return NGX_OK;
}


static inline void
answered(ngx_svc_limit_t *limit)
{
    assert_ptr_equal(limit->data, &answers);
    answers++;
}


/* Gives Redis' answer to the last check. */

static inline void
reply(long long which, long long hits, long long left1, long long left2,
    long long lock)
{
    long long    n[] = { which, hits, left1, left2, lock };
    redisReply   array, items[5], *elements[5];
    ngx_uint_t   i;

    ngx_memzero(&array, sizeof(array));
    ngx_memzero(items, sizeof(items));

    for (i = 0; i < 5; i++) {
        items[i].type = REDIS_REPLY_INTEGER;
        items[i].integer = n[i];
        elements[i] = &items[i];
    }

    array.type = REDIS_REPLY_ARRAY;
    array.elements = 5;
    array.element = elements;

    call_handler(&array, call_data);
}


static inline int
setup(void **state)
{
    ngx_uint_t  i;

    ngx_env_time(1000000);

    zone.shm.addr = (u_char *) ngx_unit_limit_memory(NGX_UNIT_LIMIT_SIZE);
    ngx_svc_limit_init_worker(&zone,
                              (u_char *) "0123456789abcdef0123456789abcdef");

    for (i = 0; i < NGX_SVC_SETTINGS; i++) {
        settings.values[i] = ngx_svc_setting_rows[i].value;
    }

    ngx_svc_settings_init_worker(&settings);

    ngx_memzero(metrics, sizeof(metrics));
    answers = 0;
    calls = 0;
    up = 0;
    taken = NGX_OK;
    ngx_terminate = 0;

    pool = ngx_create_pool(4096, ngx_env_log());
    *state = pool;

    return pool == NULL;
}


static inline int
teardown(void **state)
{
    ngx_svc_limit_exit_worker();

    if (pool) {
        ngx_destroy_pool(pool);
    }

    free(zone.shm.addr);

    return 0;
}


static inline void
set(ngx_svc_setting_e setting, ngx_uint_t value)
{
    settings.values[setting] = value;
    ngx_svc_settings_init_worker(&settings);
}


/* Sets a client and an e-mail address, either of which may be NULL. */

static inline void
of(ngx_svc_limit_t *limit, const char *ip, struct sockaddr_storage *ss,
    const char *email, u_char *mac)
{
    ngx_str_t       text;
    ngx_svc_addr_t  addr;

    ngx_memzero(limit, sizeof(ngx_svc_limit_t));
    ngx_memzero(ss, sizeof(struct sockaddr_storage));

    ss->ss_family = AF_UNIX;

    if (ip) {
        assert_int_equal(ngx_svc_addr_parse((u_char *) ip, strlen(ip), &addr),
                         NGX_OK);
        ss->ss_family = addr.family;
        ngx_memcpy(addr.family == AF_INET
                   ? (void *) &((struct sockaddr_in *) ss)->sin_addr
                   : (void *) &((struct sockaddr_in6 *) ss)->sin6_addr,
                   addr.bytes, addr.family == AF_INET ? 4 : 16);
    }

    if (email) {
        text.data = (u_char *) email;
        text.len = strlen(email);
        assert_int_equal(ngx_svc_limit_email(&text, mac), NGX_OK);
        limit->mac = mac;
    }

    limit->sockaddr = (struct sockaddr *) ss;
}


/* Returns what the check returns. */

static inline ngx_int_t
check(ngx_svc_limit_t *limit, ngx_svc_limit_family_e family, const char *ip,
    const char *email)
{
    u_char                   mac[NGX_SVC_LIMIT_MAC_LEN];
    ngx_int_t                rc;
    struct sockaddr_storage  ss;

    of(limit, ip, &ss, email, mac);

    limit->family = family;
    limit->handler = answered;
    limit->data = &answers;

    rc = ngx_svc_limit_check(limit, pool);

    /* neither may be read later */

    memset(mac, 0x55, sizeof(mac));
    memset(&ss, 0x55, sizeof(ss));

    return rc;
}


static inline void
give_back_old(const char *ip, const char *email, ngx_msec_t age)
{
    u_char                   mac[NGX_SVC_LIMIT_MAC_LEN];
    ngx_svc_limit_t          limit;
    struct sockaddr_storage  ss;

    of(&limit, ip, &ss, email, mac);

    limit.family = NGX_SVC_LIMIT_LOGIN;

    ngx_svc_limit_give_back_old(&limit, age);
}


static inline ngx_svc_limit_verdict_e
login(const char *ip, const char *email)
{
    ngx_svc_limit_t  limit;

    assert_int_equal(check(&limit, NGX_SVC_LIMIT_LOGIN, ip, email), NGX_OK);

    return limit.verdict;
}


#endif /* _NGX_UNIT_LIMIT_REDIS_H_INCLUDED_ */
