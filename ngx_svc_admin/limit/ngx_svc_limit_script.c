/*
 * The scripts that count in Redis, and their arguments.
 */

#include "ngx_svc_limit_script.h"


/* A counter without an end would refuse for ever, so that it gets one. */

ngx_svc_redis_script_t  ngx_svc_limit_check_script = {
    .name = "limit check",
    .text =
    "local left = {}\n"
    "for i = 1, #ARGV - 1 do\n"
    "    local hits = redis.call('INCR', KEYS[i])\n"
    "    left[i] = redis.call('PTTL', KEYS[i])\n"
    "    if left[i] < 0 then\n"
    "        redis.call('PEXPIRE', KEYS[i], ARGV[1])\n"
    "        left[i] = tonumber(ARGV[1])\n"
    "    end\n"
    "    if hits > tonumber(ARGV[i + 1]) then\n"
    "        local lock = 0\n"
    "        if i == #ARGV - 1 and KEYS[i + 1] then\n"
    "            lock = math.max(redis.call('PTTL', KEYS[i + 1]), 0)\n"
    "        end\n"
    "        return { i, hits, left[1], left[2] or 0, lock }\n"
    "    end\n"
    "end\n"
    "return { 0, 0, left[1], left[2] or 0, 0 }\n"
};


ngx_svc_redis_script_t  ngx_svc_limit_give_back_script = {
    .name = "limit give back",
    .text =
    "for i, key in ipairs(KEYS) do\n"
    "    local left = redis.call('PTTL', key)\n"
    "    if left >= 0 and left <= tonumber(ARGV[i])\n"
    "       and tonumber(redis.call('GET', key)) > 0\n"
    "    then\n"
    "        redis.call('DECR', key)\n"
    "    end\n"
    "end\n"
    "return 1\n"
};


ngx_svc_redis_script_t  ngx_svc_limit_lock_script = {
    .name = "limit lock",
    .text =
    "redis.call('SET', KEYS[1], '1', 'PX', ARGV[1])\n"
    "return 1\n"
};


ngx_svc_redis_script_t  ngx_svc_limit_clear_script = {
    .name = "limit clear",
    .text =
    "redis.call('DEL', KEYS[1])\n"
    "local hits = tonumber(redis.call('GET', KEYS[2]) or '0')\n"
    "local left = math.min(hits, tonumber(ARGV[1])) - tonumber(ARGV[2])\n"
    "if hits > 0 then\n"
    "    redis.call('DECRBY', KEYS[2], hits - math.max(left, 0))\n"
    "end\n"
    "return 1\n"
};


void
ngx_svc_limit_arg_key(ngx_svc_limit_args_t *args,
    const ngx_svc_limit_key_t *key)
{
    ngx_str_t  *arg;

    arg = &args->list[args->n];

    arg->data = args->texts[args->n++];
    arg->len = ngx_svc_limit_key_text(arg->data, key) - arg->data;
}


void
ngx_svc_limit_arg_number(ngx_svc_limit_args_t *args, ngx_uint_t n)
{
    ngx_str_t  *arg;

    arg = &args->list[args->n];

    arg->data = args->texts[args->n++];
    arg->len = ngx_sprintf(arg->data, "%ui", n) - arg->data;
}
