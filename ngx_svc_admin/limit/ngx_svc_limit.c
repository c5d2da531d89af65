/* Limits of sign-in, of sign-up, of links, and of what tenants have done. */

#include "ngx_svc_limit.h"
#include "ngx_svc_limit_call.h"
#include "ngx_svc_limit_memory.h"
#include "ngx_svc_limit_script.h"

#include "ngx_svc_email.h"
#include "ngx_svc_metrics.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>


#define NGX_SVC_LIMIT_SAID  60000                     /* ms between log lines */
#define NGX_SVC_LIMIT_TENANT_WINDOW  60                 /* s */
#define NGX_SVC_LIMIT_TENANT_MAX     10

#define ngx_svc_limit_seconds(s)  ((ngx_msec_t) (s) * 1000)


typedef struct {
    ngx_svc_setting_e      window;
    ngx_svc_setting_e      max[NGX_SVC_LIMIT_TENANT];
} ngx_svc_limit_settings_t;


static void ngx_svc_limit_prepare(ngx_svc_limit_t *limit);
static void ngx_svc_limit_prepare_tenant(ngx_svc_limit_t *limit);
static ngx_svc_limit_counter_t *ngx_svc_limit_counter(ngx_svc_limit_t *limit,
    ngx_svc_limit_kind_e kind);
static ngx_int_t ngx_svc_limit_send(ngx_svc_limit_t *limit,
    ngx_svc_limit_call_t *call);
static ngx_int_t ngx_svc_limit_send_lock(ngx_svc_limit_t *limit,
    ngx_svc_limit_call_t *call);
static ngx_int_t ngx_svc_limit_send_clear(ngx_svc_limit_t *limit,
    ngx_svc_limit_call_t *call);
static void ngx_svc_limit_answered(redisReply *reply, void *data);
static void ngx_svc_limit_told(redisReply *reply, void *data);
static ngx_int_t ngx_svc_limit_reply(ngx_svc_limit_t *limit,
    redisReply *reply);
static void ngx_svc_limit_local(ngx_svc_limit_t *limit);
static void ngx_svc_limit_over(ngx_svc_limit_t *limit,
    ngx_svc_limit_counter_t *counter, ngx_uint_t hits, ngx_msec_t left,
    ngx_msec_t lock);
static ngx_msec_t ngx_svc_limit_local_lock(ngx_svc_limit_counter_t *counter);
static void ngx_svc_limit_lock_key(ngx_svc_limit_key_t *key,
    const u_char *mac);
static void ngx_svc_limit_done(redisReply *reply, void *data);


ngx_str_t  ngx_svc_limit_families[NGX_SVC_LIMIT_FAMILIES] = {
    ngx_string("login"), ngx_string("signup"), ngx_string("link"),
    ngx_string("domain"), ngx_string("directory"), ngx_string("connection")
};

ngx_str_t  ngx_svc_limit_kinds[NGX_SVC_LIMIT_KINDS] = {
    ngx_string("ip"),
    ngx_string("email"),
    ngx_string("tenant")
};


#define ngx_svc_limit_setting(name)                                           \
    { NGX_SVC_SET_RATE_LIMIT_##name##_WINDOW,                                 \
      { NGX_SVC_SET_RATE_LIMIT_##name##_IP_MAX,                               \
        NGX_SVC_SET_RATE_LIMIT_##name##_EMAIL_MAX } }

static const ngx_svc_limit_settings_t
    ngx_svc_limit_settings[NGX_SVC_LIMIT_DOMAIN] = {
    [NGX_SVC_LIMIT_LOGIN] = ngx_svc_limit_setting(LOGIN),
    [NGX_SVC_LIMIT_SIGNUP] = ngx_svc_limit_setting(SIGNUP),
    [NGX_SVC_LIMIT_LINK] = ngx_svc_limit_setting(SIGNUP)
};


static const ngx_svc_metric_e
    ngx_svc_limit_metrics[NGX_SVC_LIMIT_FAMILIES][NGX_SVC_LIMIT_KINDS] = {
    [NGX_SVC_LIMIT_LOGIN] = {
        NGX_SVC_M_RATE_LOGIN_IP, NGX_SVC_M_RATE_LOGIN_EMAIL },
    [NGX_SVC_LIMIT_SIGNUP] = {
        NGX_SVC_M_RATE_SIGNUP_IP, NGX_SVC_M_RATE_SIGNUP_EMAIL },
    [NGX_SVC_LIMIT_LINK] = {
        [NGX_SVC_LIMIT_EMAIL] = NGX_SVC_M_RATE_LINK_EMAIL },
    [NGX_SVC_LIMIT_DOMAIN] = {
        [NGX_SVC_LIMIT_TENANT] = NGX_SVC_M_RATE_DOMAIN_TENANT },
    [NGX_SVC_LIMIT_DIRECTORY] = {
        [NGX_SVC_LIMIT_TENANT] = NGX_SVC_M_RATE_DIRECTORY_TENANT },
    [NGX_SVC_LIMIT_CONNECTION] = {
        [NGX_SVC_LIMIT_TENANT] = NGX_SVC_M_RATE_CONNECTION_TENANT }
};


static ngx_slab_pool_t      *ngx_svc_limit_pool;    /* NULL: no location */
static u_char                ngx_svc_limit_secret[NGX_SVC_LIMIT_SECRET_LEN];
static ngx_svc_log_limit_t   ngx_svc_limit_said;


void
ngx_svc_limit_init_worker(ngx_shm_zone_t *zone,
    const u_char secret[NGX_SVC_LIMIT_SECRET_LEN])
{
    ngx_svc_limit_pool = (ngx_slab_pool_t *) zone->shm.addr;

    if (secret) {
        ngx_memcpy(ngx_svc_limit_secret, secret, NGX_SVC_LIMIT_SECRET_LEN);
    }
}


void
ngx_svc_limit_exit_worker(void)
{
    OPENSSL_cleanse(ngx_svc_limit_secret, NGX_SVC_LIMIT_SECRET_LEN);
}


ngx_int_t
ngx_svc_limit_email(const ngx_str_t *email, u_char mac[NGX_SVC_LIMIT_MAC_LEN])
{
    u_char    key[NGX_SVC_EMAIL_KEY], full[EVP_MAX_MD_SIZE];
    size_t    len;
    unsigned  n;

    if (ngx_svc_email_key(key, &len, email) != NGX_OK) {
        return NGX_ERROR;
    }

    if (HMAC(EVP_sha256(), ngx_svc_limit_secret, NGX_SVC_LIMIT_SECRET_LEN,
             key, len, full, &n)
        == NULL)
    {
        return NGX_ERROR;
    }

    ngx_memcpy(mac, full, NGX_SVC_LIMIT_MAC_LEN);

    return NGX_OK;
}


ngx_int_t
ngx_svc_limit_check(ngx_svc_limit_t *limit, ngx_pool_t *pool)
{
    ngx_int_t  rc;

    ngx_svc_limit_prepare(limit);

    if (limit->n == 0) {
        return NGX_OK;
    }

    rc = ngx_svc_limit_ask(limit, pool, ngx_svc_limit_send);

    if (rc == NGX_OK) {
        return NGX_AGAIN;
    }

    if (rc == NGX_ERROR) {
        return NGX_ERROR;
    }

    ngx_svc_limit_local(limit);

    return NGX_OK;
}


static void
ngx_svc_limit_prepare(ngx_svc_limit_t *limit)
{
    ngx_svc_addr_t            addr;
    ngx_svc_limit_counter_t  *counter;

    limit->verdict = NGX_SVC_LIMIT_ADMITTED;
    limit->store = NGX_SVC_LIMIT_NOWHERE;
    limit->left = 0;
    limit->first_over = 0;
    limit->n = 0;

    if (limit->tenant) {
        ngx_svc_limit_prepare_tenant(limit);
        return;
    }

    limit->window =
               ngx_svc_setting(ngx_svc_limit_settings[limit->family].window);

    if (limit->window == 0) {
        return;
    }

    if (ngx_svc_addr_from_sockaddr(limit->sockaddr, &addr) == NGX_OK) {
        counter = ngx_svc_limit_counter(limit, NGX_SVC_LIMIT_IP);

        if (counter) {
            ngx_svc_limit_key_addr(&counter->key, limit->family, &addr);
        }
    }

    if (limit->mac) {
        counter = ngx_svc_limit_counter(limit, NGX_SVC_LIMIT_EMAIL);

        if (counter) {
            ngx_svc_limit_key_mac(&counter->key, limit->family, limit->mac);
        }
    }
}


static void
ngx_svc_limit_prepare_tenant(ngx_svc_limit_t *limit)
{
    ngx_svc_limit_counter_t  *counter;

    limit->window = NGX_SVC_LIMIT_TENANT_WINDOW;

    counter = &limit->counters[limit->n++];
    counter->kind = NGX_SVC_LIMIT_TENANT;
    counter->max = NGX_SVC_LIMIT_TENANT_MAX;

    ngx_svc_limit_key_tenant(&counter->key, limit->family, limit->tenant);
}


/* Returns NULL when the counter is switched off. */

static ngx_svc_limit_counter_t *
ngx_svc_limit_counter(ngx_svc_limit_t *limit, ngx_svc_limit_kind_e kind)
{
    ngx_uint_t                max;
    ngx_svc_limit_counter_t  *counter;

    max = ngx_svc_setting(ngx_svc_limit_settings[limit->family].max[kind]);

    if (max == 0) {
        return NULL;
    }

    counter = &limit->counters[limit->n++];
    counter->kind = kind;
    counter->max = max;

    return counter;
}


static ngx_int_t
ngx_svc_limit_send(ngx_svc_limit_t *limit, ngx_svc_limit_call_t *call)
{
    ngx_uint_t                i, nkeys;
    ngx_svc_limit_key_t       lock;
    ngx_svc_limit_args_t      args;
    ngx_svc_limit_counter_t  *counter;

    args.n = 0;

    for (i = 0; i < limit->n; i++) {
        ngx_svc_limit_arg_key(&args, &limit->counters[i].key);
    }

    counter = &limit->counters[limit->n - 1];

    if (counter->kind == NGX_SVC_LIMIT_EMAIL) {
        ngx_svc_limit_lock_key(&lock, counter->key.bytes);
        ngx_svc_limit_arg_key(&args, &lock);
    }

    nkeys = args.n;

    ngx_svc_limit_arg_number(&args, ngx_svc_limit_seconds(limit->window));

    for (i = 0; i < limit->n; i++) {
        ngx_svc_limit_arg_number(&args, limit->counters[i].max);
    }

    return ngx_svc_redis_call(&ngx_svc_limit_check_script, args.list, args.n,
                              nkeys, ngx_svc_limit_answered, call);
}


static void
ngx_svc_limit_answered(redisReply *reply, void *data)
{
    ngx_svc_limit_t  *limit;

    limit = ngx_svc_limit_taken(reply, data);

    if (limit == NULL) {
        return;
    }

    if (ngx_svc_limit_reply(limit, reply) != NGX_OK) {
        ngx_svc_limit_local(limit);
    }

    limit->handler(limit);
}


static ngx_int_t
ngx_svc_limit_reply(ngx_svc_limit_t *limit, redisReply *reply)
{
    ngx_uint_t  i;
    long long   n[NGX_SVC_LIMIT_ANSWER];

    if (reply == NULL || reply->type != REDIS_REPLY_ARRAY
        || reply->elements != NGX_SVC_LIMIT_ANSWER)
    {
        return NGX_DECLINED;
    }

    for (i = 0; i < NGX_SVC_LIMIT_ANSWER; i++) {

        if (reply->element[i]->type != REDIS_REPLY_INTEGER) {
            return NGX_DECLINED;
        }

        n[i] = reply->element[i]->integer;
    }

    if (n[0] < 0 || n[0] > (long long) limit->n) {
        return NGX_DECLINED;
    }

    limit->store = NGX_SVC_LIMIT_REDIS;
    ngx_svc_metric_add(NGX_SVC_M_RATE_REDIS, 1);

    for (i = 0; i < limit->n; i++) {
        limit->counters[i].window = n[2 + i];
    }

    if (n[0]) {
        i = n[0] - 1;
        ngx_svc_limit_over(limit, &limit->counters[i], n[1], n[2 + i], n[4]);
    }

    return NGX_OK;
}


static void
ngx_svc_limit_local(ngx_svc_limit_t *limit)
{
    ngx_int_t                 rc;
    ngx_uint_t                i;
    ngx_svc_limit_hit_t       hit;
    ngx_svc_limit_counter_t  *counter;

    limit->store = NGX_SVC_LIMIT_MEMORY;
    ngx_svc_metric_add(NGX_SVC_M_RATE_MEMORY, 1);

    if (ngx_svc_redis_state() != NGX_SVC_REDIS_OFF
        && ngx_svc_log_limit(&ngx_svc_limit_said, 1, NGX_SVC_LIMIT_SAID))
    {
        ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                      "Redis does not count sign-ins: each node does so for "
                      "itself, in memory");
    }

    for (i = 0; i < limit->n; i++) {
        counter = &limit->counters[i];

        rc = ngx_svc_limit_memory_hit(ngx_svc_limit_pool, &counter->key,
                                      counter->max,
                                      ngx_svc_limit_seconds(limit->window),
                                      &hit);
        counter->window = hit.end;

        if (rc != NGX_OK || hit.count > counter->max) {
            ngx_svc_limit_over(limit, counter, hit.count, hit.left,
                               ngx_svc_limit_local_lock(counter));
            return;
        }
    }
}


static void
ngx_svc_limit_over(ngx_svc_limit_t *limit, ngx_svc_limit_counter_t *counter,
    ngx_uint_t hits, ngx_msec_t left, ngx_msec_t lock)
{
    limit->verdict = lock ? NGX_SVC_LIMIT_LOCKED : NGX_SVC_LIMIT_LIMITED;
    limit->left = lock ? lock : ngx_max(left, 1);
    limit->kind = counter->kind;
    limit->max = counter->max;
    limit->first_over = (hits == counter->max + 1);

    ngx_svc_metric_add(ngx_svc_limit_metrics[limit->family][counter->kind], 1);
}


static ngx_msec_t
ngx_svc_limit_local_lock(ngx_svc_limit_counter_t *counter)
{
    ngx_svc_limit_key_t  key;

    if (counter->kind != NGX_SVC_LIMIT_EMAIL) {
        return 0;
    }

    ngx_svc_limit_lock_key(&key, counter->key.bytes);

    return ngx_svc_limit_memory_left(ngx_svc_limit_pool, &key);
}


/* A hit that Redis does not take back ends with its window. */

void
ngx_svc_limit_give_back(ngx_svc_limit_t *limit)
{
    ngx_uint_t                i;
    ngx_svc_limit_args_t      args;
    ngx_svc_limit_counter_t  *counter;

    if (limit->verdict != NGX_SVC_LIMIT_ADMITTED) {
        return;
    }

    args.n = 0;

    for (i = 0; i < limit->n; i++) {
        counter = &limit->counters[i];

        if (limit->store == NGX_SVC_LIMIT_MEMORY) {
            ngx_svc_limit_memory_give_back(ngx_svc_limit_pool, &counter->key,
                                           counter->max, counter->window);

        } else {
            ngx_svc_limit_arg_key(&args, &counter->key);
        }
    }

    if (limit->store == NGX_SVC_LIMIT_REDIS) {

        for (i = 0; i < limit->n; i++) {
            ngx_svc_limit_arg_number(&args, limit->counters[i].window);
        }

        (void) ngx_svc_redis_call(&ngx_svc_limit_give_back_script, args.list,
                                  args.n, limit->n, ngx_svc_limit_done, NULL);
    }

    limit->n = 0;
    limit->store = NGX_SVC_LIMIT_NOWHERE;
}


/* The window of that hit can have only the rest of its length left. */

void
ngx_svc_limit_give_back_old(ngx_svc_limit_t *limit, ngx_msec_t age)
{
    ngx_uint_t  i;
    ngx_msec_t  left;

    ngx_svc_limit_prepare(limit);

    left = ngx_svc_limit_seconds(limit->window);

    if (limit->n == 0 || age >= left) {
        return;
    }

    left -= age;

    if (ngx_svc_redis_ready()) {
        limit->store = NGX_SVC_LIMIT_REDIS;

    } else {
        limit->store = NGX_SVC_LIMIT_MEMORY;
        left += ngx_current_msec;
    }

    for (i = 0; i < limit->n; i++) {
        limit->counters[i].window = left;
    }

    ngx_svc_limit_give_back(limit);
}


ngx_int_t
ngx_svc_limit_lock(ngx_svc_limit_t *limit, ngx_pool_t *pool, ngx_msec_t ms)
{
    ngx_int_t            rc;
    ngx_svc_limit_key_t  key;

    limit->left = ngx_max(ms, 1);

    rc = ngx_svc_limit_ask(limit, pool, ngx_svc_limit_send_lock);

    if (rc != NGX_DECLINED) {
        return rc == NGX_OK ? NGX_AGAIN : rc;
    }

    if (ngx_svc_limit_pool) {
        ngx_svc_limit_lock_key(&key, limit->mac);
        ngx_svc_limit_memory_put(ngx_svc_limit_pool, &key, limit->left);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_svc_limit_send_lock(ngx_svc_limit_t *limit, ngx_svc_limit_call_t *call)
{
    ngx_svc_limit_key_t   key;
    ngx_svc_limit_args_t  args;

    args.n = 0;

    ngx_svc_limit_lock_key(&key, limit->mac);
    ngx_svc_limit_arg_key(&args, &key);
    ngx_svc_limit_arg_number(&args, limit->left);

    return ngx_svc_redis_call(&ngx_svc_limit_lock_script, args.list, args.n, 1,
                              ngx_svc_limit_told, call);
}


ngx_int_t
ngx_svc_limit_clear(ngx_svc_limit_t *limit, ngx_pool_t *pool, ngx_uint_t hits)
{
    ngx_int_t            rc;
    ngx_svc_limit_key_t  lock, counter;

    if (ngx_svc_limit_pool == NULL) {
        return NGX_OK;
    }

    ngx_svc_limit_lock_key(&lock, limit->mac);
    ngx_svc_limit_key_mac(&counter, NGX_SVC_LIMIT_LOGIN, limit->mac);

    ngx_svc_limit_memory_remove(ngx_svc_limit_pool, &lock);
    ngx_svc_limit_memory_forgive(ngx_svc_limit_pool, &counter,
                ngx_svc_setting(NGX_SVC_SET_RATE_LIMIT_LOGIN_EMAIL_MAX), hits);

    limit->hits = hits;

    rc = ngx_svc_limit_ask(limit, pool, ngx_svc_limit_send_clear);

    return rc == NGX_OK ? NGX_AGAIN : rc == NGX_DECLINED ? NGX_OK : rc;
}


static ngx_int_t
ngx_svc_limit_send_clear(ngx_svc_limit_t *limit, ngx_svc_limit_call_t *call)
{
    ngx_svc_limit_key_t   lock, counter;
    ngx_svc_limit_args_t  args;

    args.n = 0;

    ngx_svc_limit_lock_key(&lock, limit->mac);
    ngx_svc_limit_key_mac(&counter, NGX_SVC_LIMIT_LOGIN, limit->mac);

    ngx_svc_limit_arg_key(&args, &lock);
    ngx_svc_limit_arg_key(&args, &counter);
    ngx_svc_limit_arg_number(&args,
                     ngx_svc_setting(NGX_SVC_SET_RATE_LIMIT_LOGIN_EMAIL_MAX));
    ngx_svc_limit_arg_number(&args, limit->hits);

    return ngx_svc_redis_call(&ngx_svc_limit_clear_script, args.list, args.n,
                              2, ngx_svc_limit_told, call);
}


static void
ngx_svc_limit_told(redisReply *reply, void *data)
{
    ngx_svc_limit_t  *limit;

    limit = ngx_svc_limit_taken(reply, data);

    if (limit) {
        limit->handler(limit);
    }
}


static void
ngx_svc_limit_lock_key(ngx_svc_limit_key_t *key, const u_char *mac)
{
    ngx_svc_limit_key_mac(key, NGX_SVC_LIMIT_LOCK, mac);
}


/* Nothing waits for the reply; the caller logs errors. */

static void
ngx_svc_limit_done(redisReply *reply, void *data)
{
}
