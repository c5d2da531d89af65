/*
 * The scripts that move deliveries in Redis.
 */

#include "ngx_svc_webhook_script.h"


/* Sets now, in ms. */

#define NGX_SVC_WEBHOOK_NOW                                                   \
    "local t = redis.call('TIME')\n"                                          \
    "local now = t[1] * 1000 + math.floor(t[2] / 1000)\n"

/*
 * When Redis is full, it refuses commands that may need memory, unless the
 * script has written by a command that needs none.  Otherwise nothing could be
 * delivered, which is what makes room.
 */

#define NGX_SVC_WEBHOOK_FULL                                                  \
    "redis.call('ZREM', '" NGX_SVC_WEBHOOK_HELPERS "', '')\n"

/* The pattern of what precedes an entry's id. */

#define NGX_SVC_WEBHOOK_HEAD  "^%S+ %d "

/* A count that falls to 0 is deleted. */

#define NGX_SVC_WEBHOOK_LESS                                                  \
    "local function less(pending, field, n)\n"                                \
    "    if redis.call('HINCRBY', pending, field, -n) <= 0 then\n"            \
    "        redis.call('HDEL', pending, field)\n"                            \
    "    end\n"                                                               \
    "end\n"


/* got: the first element, then entries; the digits are inserted between. */

#define NGX_SVC_WEBHOOK_GOT                                                   \
    "local function answer(got, digits)\n"                                    \
    "    table.insert(got, 2, table.concat(digits))\n"                        \
    "    return got\n"                                                        \
    "end\n"


ngx_svc_redis_script_t  ngx_svc_webhook_enqueue_script = {
    .name = "push",
    .errors = 1,
    .text =
    "local all, share = tonumber(ARGV[1]), tonumber(ARGV[2])\n"
    "local codes, wake = {}, false\n"
    "local total = tonumber(redis.call('HGET', KEYS[2], 'total')) or 0\n"
    "local function push(tenant, n, at)\n"
    "    local ids, fresh = {}, {}\n"
    "    for i = at, at + n - 1 do\n"
    "        ids[#ids + 1] = string.match(ARGV[i],"
                 " '" NGX_SVC_WEBHOOK_HEAD "(%x+) ')\n"
    "    end\n"
    "    local known = redis.call('ZMSCORE', '" NGX_SVC_WEBHOOK_KNOWN "',"
             " unpack(ids))\n"
    "    local marks = {}\n"
    "    for i, score in ipairs(known) do\n"
    "        if not score then\n"
    "            fresh[#fresh + 1] = ARGV[at + i - 1]\n"
    "            marks[#marks + 1] = 'inf'\n"
    "            marks[#marks + 1] = ids[i]\n"
    "        end\n"
    "    end\n"
    "    n = #fresh\n"
    "    if n == 0 then\n"
    "        return '3'\n"
    "    end\n"
    "    if total + n > all then\n"
    "        return '1'\n"
    "    end\n"
    "    local have = tonumber(redis.call('HGET', KEYS[2], tenant)) or 0\n"
    "    if have + n > share then\n"
    "        return '2'\n"
    "    end\n"
    "    local len = redis.call('RPUSH', KEYS[1], unpack(fresh))\n"
    "    redis.call('ZADD', '" NGX_SVC_WEBHOOK_KNOWN "', unpack(marks))\n"
    "    total = redis.call('HINCRBY', KEYS[2], 'total', n)\n"
    "    redis.call('HINCRBY', KEYS[2], tenant, n)\n"
    "    wake = wake or len == n\n"
    "    return '0'\n"
    "end\n"
    "local i = 3\n"
    "while ARGV[i] do\n"
    "    local n = tonumber(ARGV[i + 1])\n"
    "    codes[#codes + 1] = push(ARGV[i], n, i + 2)\n"
    "    i = i + 2 + n\n"
    "end\n"
    "if wake then\n"
    "    redis.call('PUBLISH', '" NGX_SVC_WEBHOOK_WAKE "', '1')\n"
    "end\n"
    "return table.concat(codes)\n"
};


ngx_svc_redis_script_t  ngx_svc_webhook_register_script = {
    .name = "register",
    .text =
    NGX_SVC_WEBHOOK_FULL
    NGX_SVC_WEBHOOK_NOW
    "redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])\n"
    "if ARGV[3] ~= ''\n"
    "   and redis.call('EXISTS', '" NGX_SVC_WEBHOOK_INFLIGHT "' .. ARGV[3])"
            " == 1\n"
    "then\n"
    "    redis.call('ZADD', KEYS[1], 0, ARGV[3])\n"
    "end\n"
    "return 1\n"
};


ngx_svc_redis_script_t  ngx_svc_webhook_heartbeat_script = {
    .name = "heartbeat",
    .text =
    NGX_SVC_WEBHOOK_FULL
    NGX_SVC_WEBHOOK_NOW
    "redis.call('ZREMRANGEBYSCORE', '" NGX_SVC_WEBHOOK_KNOWN "', '-inf',"
        " now - " NGX_SVC_WEBHOOK_KNOWN_MS ")\n"
    "local alive = 0\n"
    "if tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or 0) > 0 then\n"
    "    redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])\n"
    "    alive = 1\n"
    "end\n"
    "return { alive, redis.call('LLEN', KEYS[2]),"
        " redis.call('HLEN', KEYS[3]),"
        " redis.call('ZCOUNT', KEYS[1], 0, now) }\n"
};


/*
 * If there is no delivery anywhere, counts and marks that are left are wrong:
 * somebody has deleted the queue.
 */

ngx_svc_redis_script_t  ngx_svc_webhook_take_script = {
    .name = "take",
    .text =
    NGX_SVC_WEBHOOK_FULL
    NGX_SVC_WEBHOOK_NOW
    NGX_SVC_WEBHOOK_LESS
    NGX_SVC_WEBHOOK_GOT
    "local max = tonumber(ARGV[2])\n"
    "local got, digits = { 0 }, {}\n"
    "if tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or 0) == 0 then\n"
    "    return answer(got, digits)\n"
    "end\n"
    "local function add(entry, started)\n"
    "    local id = string.match(entry, '" NGX_SVC_WEBHOOK_HEAD "(%x+) ')\n"
    "    if id then\n"
    "        redis.call('HSET', KEYS[4], id, entry)\n"
    "        if started then\n"
    "            redis.call('HSET', KEYS[4] .. '" NGX_SVC_WEBHOOK_STARTED "',"
                     " id, started)\n"
    "        end\n"
    "    else\n"
    "        less(KEYS[3], 'total', 1)\n"
    "    end\n"
    "    got[#got + 1] = entry\n"
    "end\n"
    "local dead = redis.call('ZRANGEBYSCORE', KEYS[1], 0, now,"
        " 'LIMIT', 0, 16)\n"
    "for _, id in ipairs(dead) do\n"
    "    if id ~= ARGV[1] and #got <= max then\n"
    "        local theirs = '" NGX_SVC_WEBHOOK_INFLIGHT "' .. id\n"
    "        local has = redis.call('HRANDFIELD', theirs, max + 1 - #got,"
                " 'WITHVALUES')\n"
    "        for i = 1, #has, 2 do\n"
    "            local started = redis.call('HGET', theirs .. '"
                     NGX_SVC_WEBHOOK_STARTED "', has[i])\n"
    "            redis.call('HDEL', theirs, has[i])\n"
    "            add(has[i + 1], started)\n"
    "            digits[#digits + 1] = started or '0'\n"
    "        end\n"
    "        if redis.call('EXISTS', theirs) == 0 then\n"
    "            redis.call('ZREM', KEYS[1], id)\n"
    "            redis.call('DEL', theirs .. '" NGX_SVC_WEBHOOK_STARTED "')\n"
    "        else\n"
    "            redis.call('ZADD', KEYS[1], 0, id)\n"
    "        end\n"
    "    end\n"
    "end\n"
    "got[1] = #got - 1\n"
    "if #got <= max then\n"
    "    local list = redis.call('LPOP', KEYS[2], max + 1 - #got)\n"
    "    for _, entry in ipairs(list or {}) do\n"
    "        add(entry)\n"
    "    end\n"
    "end\n"
    "if #got == 1 and (redis.call('EXISTS', KEYS[3]) == 1"
        " or redis.call('ZCOUNT', '" NGX_SVC_WEBHOOK_KNOWN "', 'inf', 'inf')"
        " > 0)\n"
    "then\n"
    "    for _, id in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do\n"
    "        if redis.call('EXISTS', '" NGX_SVC_WEBHOOK_INFLIGHT "' .. id)"
            " == 1\n"
    "        then\n"
    "            return answer(got, digits)\n"
    "        end\n"
    "    end\n"
    "    redis.call('DEL', KEYS[3])\n"
    "    redis.call('ZREMRANGEBYSCORE', '" NGX_SVC_WEBHOOK_KNOWN "', 'inf',"
             " 'inf')\n"
    "end\n"
    "return answer(got, digits)\n"
};


ngx_svc_redis_script_t  ngx_svc_webhook_started_script = {
    .name = "started",
    .text =
    NGX_SVC_WEBHOOK_FULL
    "if redis.call('EXISTS', KEYS[1]) == 0 then\n"
    "    return 0\n"
    "end\n"
    "redis.call('HSET', KEYS[1] .. '" NGX_SVC_WEBHOOK_STARTED "',"
        " unpack(ARGV))\n"
    "return 1\n"
};


ngx_svc_redis_script_t  ngx_svc_webhook_recover_script = {
    .name = "recover",
    .text =
    NGX_SVC_WEBHOOK_FULL
    NGX_SVC_WEBHOOK_LESS
    NGX_SVC_WEBHOOK_GOT
    "local part = redis.call('HSCAN', KEYS[1], ARGV[1], 'COUNT', ARGV[2])\n"
    "local got, digits = { part[1] }, {}\n"
    "for i = 1, #part[2], 2 do\n"
    "    local id, entry = part[2][i], part[2][i + 1]\n"
    "    if string.match(entry, '" NGX_SVC_WEBHOOK_HEAD "(%x+) ') == id then\n"
    "        got[#got + 1] = entry\n"
    "        digits[#digits + 1] = redis.call('HGET', KEYS[1] .. '"
                 NGX_SVC_WEBHOOK_STARTED "', id) or '0'\n"
    "    else\n"
    "        redis.call('HDEL', KEYS[1], id)\n"
    "        less(KEYS[2], 'total', 1)\n"
    "    end\n"
    "end\n"
    "return answer(got, digits)\n"
};


/*
 * A command in a script costs as much as its work, so each kind is called once
 * for all deliveries that have ended.  A delivery occurs once.
 */

ngx_svc_redis_script_t  ngx_svc_webhook_ack_script = {
    .name = "acknowledge",
    .text =
    NGX_SVC_WEBHOOK_FULL
    NGX_SVC_WEBHOOK_NOW
    NGX_SVC_WEBHOOK_LESS
    "local started = KEYS[1] .. '" NGX_SVC_WEBHOOK_STARTED "'\n"
    "now = string.format('%.0f', now)\n"
    "local wake, ids, numbers = false, {}, {}\n"
    "local over, marks, counts, fields = {}, {}, {}, {}\n"
    "local function count(field)\n"
    "    counts[field] = (counts[field] or 0) + 1\n"
    "end\n"
    "local function final(id, entry)\n"
    "    over[#over + 1] = id\n"
    "    marks[#marks + 1] = now\n"
    "    marks[#marks + 1] = id\n"
    "    count('total')\n"
    "    local tenant = string.match(entry,"
            " '" NGX_SVC_WEBHOOK_HEAD "%x+ %x+ (%S+) ')\n"
    "    if tenant then\n"
    "        count(tenant)\n"
    "    end\n"
    "end\n"
    "local function goes_on(id, entry, head, back)\n"
    "    local ended, rest = string.match(entry, '^%S+ (%d)(.*)$')\n"
    "    if back then\n"
    "        redis.call('HDEL', KEYS[1], id)\n"
    "        redis.call('LPUSH', KEYS[3], head .. (rest or ''))\n"
    "        wake = true\n"
    "    elseif (ended or '0') <= string.sub(head, -1) then\n"
    "        redis.call('HSET', KEYS[1], id, head .. (rest or ''))\n"
    "    end\n"
    "end\n"
    "for i = 1, #ARGV, 3 do\n"
    "    ids[#ids + 1] = ARGV[i]\n"
    "    numbers[#numbers + 1] = ARGV[i] .. '" NGX_SVC_WEBHOOK_NUMBER "'\n"
    "end\n"
    "local entries = redis.call('HMGET', KEYS[1], unpack(ids))\n"
    "local last = redis.call('HMGET', started, unpack(numbers))\n"
    "for i, id in ipairs(ids) do\n"
    "    local outcome, number = ARGV[3 * i - 1], ARGV[3 * i]\n"
    "    local kind = string.sub(outcome, 1, 1)\n"
    "    local entry = entries[i]\n"
    "    if entry and kind == '-' then\n"
    "        final(id, entry)\n"
    "    elseif entry then\n"
    "        goes_on(id, entry, string.sub(outcome, 2), kind == '<')\n"
    "    end\n"
    "    if kind ~= '='\n"
    "       or (tonumber(last[i]) or 0) <= tonumber(number)\n"
    "    then\n"
    "        fields[#fields + 1] = id\n"
    "        fields[#fields + 1] = numbers[i]\n"
    "    end\n"
    "end\n"
    "if #over > 0 then\n"
    "    redis.call('HDEL', KEYS[1], unpack(over))\n"
    "    redis.call('ZADD', '" NGX_SVC_WEBHOOK_KNOWN "', 'XX',"
             " unpack(marks))\n"
    "end\n"
    "for field, n in pairs(counts) do\n"
    "    less(KEYS[2], field, n)\n"
    "end\n"
    "if #fields > 0 then\n"
    "    redis.call('HDEL', started, unpack(fields))\n"
    "end\n"
    "if wake then\n"
    "    redis.call('PUBLISH', '" NGX_SVC_WEBHOOK_WAKE "', '1')\n"
    "end\n"
    "return 1\n"
};


ngx_svc_redis_script_t  ngx_svc_webhook_known_script = {
    .name = "known",
    .text =
    NGX_SVC_WEBHOOK_FULL
    NGX_SVC_WEBHOOK_NOW
    "for _, id in ipairs(ARGV) do\n"
    "    redis.call('ZADD', '" NGX_SVC_WEBHOOK_KNOWN "', 'GT', now, id)\n"
    "end\n"
    "return 1\n"
};


ngx_svc_redis_script_t  ngx_svc_webhook_unregister_script = {
    .name = "unregister",
    .text =
    NGX_SVC_WEBHOOK_FULL
    "if redis.call('EXISTS', KEYS[2]) == 1 then\n"
    "    redis.call('ZADD', KEYS[1], 0, ARGV[1])\n"
    "    redis.call('PUBLISH', '" NGX_SVC_WEBHOOK_WAKE "', '1')\n"
    "else\n"
    "    redis.call('ZREM', KEYS[1], ARGV[1])\n"
    "    redis.call('DEL', KEYS[2] .. '" NGX_SVC_WEBHOOK_STARTED "')\n"
    "end\n"
    "return 1\n"
};
