/*
 * The scripts that move mails in Redis.
 */

#include "ngx_svc_mail_script.h"


/*
 * When Redis is full, it refuses commands that may need memory, unless the
 * script has written by a command that needs none: mails must still leave
 * Redis.
 */

#define NGX_SVC_MAIL_FULL                                                     \
    "redis.call('ZREM', '" NGX_SVC_MAIL_HELPERS "', '')\n"


ngx_svc_redis_script_t  ngx_svc_mail_enqueue_script = {
    .name = "push mail",
    .text =
    "local function have(field)\n"
    "    return tonumber(redis.call('HGET', KEYS[2], field)) or 0\n"
    "end\n"
    "if have('total') >= tonumber(ARGV[1]) then\n"
    "    return 1\n"
    "end\n"
    "if have(ARGV[3]) >= tonumber(ARGV[2]) then\n"
    "    return 2\n"
    "end\n"
    "if ARGV[5] == '1' then\n"
    "    return 0\n"
    "end\n"
    "redis.call('RPUSH', KEYS[1], ARGV[4])\n"
    "redis.call('HINCRBY', KEYS[2], 'total', 1)\n"
    "redis.call('HINCRBY', KEYS[2], ARGV[3], 1)\n"
    "redis.call('PUBLISH', '" NGX_SVC_MAIL_WAKE "', '1')\n"
    "return 0\n"
};


ngx_svc_redis_script_t  ngx_svc_mail_take_script = {
    .name = "take mail",
    .text =
    NGX_SVC_MAIL_FULL
    "local t = redis.call('TIME')\n"
    "local now = t[1] * 1000 + math.floor(t[2] / 1000)\n"
    "local me, max = ARGV[1], tonumber(ARGV[3])\n"
    "local known = redis.call('ZSCORE', KEYS[1], me)\n"
    "local got = { 0, 0 }\n"
    "if tonumber(known or 0) > now then\n"
    "    got[1] = 1\n"
    "end\n"
    "redis.call('ZADD', KEYS[1], now + ARGV[2], me)\n"
    "if ARGV[4] ~= '' and redis.call('EXISTS', '" NGX_SVC_MAIL_INFLIGHT
            "' .. ARGV[4]) == 1\n"
    "then\n"
    "    redis.call('ZADD', KEYS[1], 0, ARGV[4])\n"
    "end\n"
    "if ARGV[5] == '1' then\n"
    "    for _, entry in ipairs(redis.call('HVALS', KEYS[3])) do\n"
    "        got[#got + 1] = entry\n"
    "    end\n"
    "end\n"
    "local dead = redis.call('ZRANGEBYSCORE', KEYS[1], 0, now,"
        " 'LIMIT', 0, 16)\n"
    "for _, id in ipairs(dead) do\n"
    "    local theirs = '" NGX_SVC_MAIL_INFLIGHT "' .. id\n"
    "    local has = {}\n"
    "    if max > 0 then\n"
    "        has = redis.call('HRANDFIELD', theirs, max, 'WITHVALUES')\n"
    "    end\n"
    "    for i = 1, #has, 2 do\n"
    "        redis.call('HDEL', theirs, has[i])\n"
    "        redis.call('HSET', KEYS[3], has[i], has[i + 1])\n"
    "        got[#got + 1] = has[i + 1]\n"
    "        max = max - 1\n"
    "    end\n"
    "    if redis.call('EXISTS', theirs) == 0 then\n"
    "        redis.call('ZREM', KEYS[1], id)\n"
    "    end\n"
    "end\n"
    "while max > 0 do\n"
    "    local entry = redis.call('LPOP', KEYS[2])\n"
    "    if not entry then\n"
    "        break\n"
    "    end\n"
    "    redis.call('HSET', KEYS[3], string.match(entry, '^%x+') or entry,"
            " entry)\n"
    "    got[#got + 1] = entry\n"
    "    max = max - 1\n"
    "end\n"
    "got[2] = redis.call('LLEN', KEYS[2])\n"
    "return got\n"
};


/* A count that falls to 0 is deleted. */

ngx_svc_redis_script_t  ngx_svc_mail_done_script = {
    .name = "end mail",
    .text =
    NGX_SVC_MAIL_FULL
    "if redis.call('HDEL', KEYS[1], ARGV[1]) == 1 then\n"
    "    for _, field in ipairs({ 'total', ARGV[2] }) do\n"
    "        if redis.call('HINCRBY', KEYS[2], field, -1) <= 0 then\n"
    "            redis.call('HDEL', KEYS[2], field)\n"
    "        end\n"
    "    end\n"
    "end\n"
    "if ARGV[3] == '1'\n"
    "   and redis.call('SET', KEYS[3], '1', 'NX', 'EX', 3600)\n"
    "then\n"
    "    return 1\n"
    "end\n"
    "return 0\n"
};


ngx_svc_redis_script_t  ngx_svc_mail_leave_script = {
    .name = "leave mail",
    .text =
    NGX_SVC_MAIL_FULL
    "if redis.call('EXISTS', KEYS[2]) == 1 then\n"
    "    redis.call('ZADD', KEYS[1], 0, ARGV[1])\n"
    "    redis.call('PUBLISH', '" NGX_SVC_MAIL_WAKE "', '1')\n"
    "else\n"
    "    redis.call('ZREM', KEYS[1], ARGV[1])\n"
    "end\n"
    "return 1\n"
};
