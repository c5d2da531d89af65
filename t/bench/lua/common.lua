-- What the scripts for wrk share.  They take their parameters from the
-- environment:
--   BENCH_TOKENS  a Lua file that returns the tokens of the tenants
--   BENCH_USERS   how many users sql/seed.sql has made
--   BENCH_PREFIX  what paths begin with
--   BENCH_SEED    for the random numbers
--   BENCH_RATE    requests a second of this wrk, which must have one thread;
--                 without it each connection goes as fast as it is answered
--   BENCH_HEADERS lines, see header_lines()
--   BENCH_PREBUILT  how many requests prebuild() makes
--   BENCH_ANSWERED  a file that is there when there was an answer, and holds the
--                   first one that is an error; a script with a response() of
--                   its own calls answered() in it

local ffi = require("ffi")

ffi.cdef [[
    typedef struct { long sec; long nsec; } bench_time_t;
    int clock_gettime(int id, bench_time_t *time);
]]

local M = {
    users = tonumber(os.getenv("BENCH_USERS")),
    prefix = os.getenv("BENCH_PREFIX") or "",
    tokens = dofile(os.getenv("BENCH_TOKENS")),
}

local BODY =
    '{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User",'
    .. '"urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"],'
    .. '"externalId":"%s","userName":"%s",'
    .. '"active":true,"displayName":"Grace %s",'
    .. '"name":{"givenName":"Grace","familyName":"%s"},'
    .. '"title":"%s","locale":"en-US",'
    .. '"urn:ietf:params:scim:schemas:extension:enterprise:2.0:User":'
    .. '{"department":"Research"}}'

local PREBUILT = tonumber(os.getenv("BENCH_PREBUILT"))
local answered, told = os.getenv("BENCH_ANSWERED"), false
local rate = tonumber(os.getenv("BENCH_RATE"))
local threads = 0


function setup(thread)
    thread:set("thread_number", threads)
    threads = threads + 1
end


function M.answered(status, _, body)
    if answered and (status > 399 or not told) then
        local file = io.open(answered, "a")

        if status > 399 then
            file:write(status, " ", body, "\n")
            answered = nil
        end

        file:close()
        told = true
    end
end


-- wrk parses answers only for scripts that ask for it

if answered then
    response = M.answered
end


-- Must be called from init(): only then the thread has its number.

function M.randomise()
    math.randomseed(tonumber(os.getenv("BENCH_SEED")) * 64 + thread_number)
end


function M.any_user()
    return math.random(0, M.users - 1)
end


function M.id(user)
    return string.format("018f3a5c-7d7e-7100-8000-%012d", user)
end


-- Users belong to the tenants in turn.

function M.tenant(user)
    return user % #M.tokens
end


function M.headers(user)
    return { Authorization = "Bearer " .. M.tokens[M.tenant(user) + 1] }
end


-- Returns a whole user, in the form that Entra ID sends.

function M.body(external_id, user_name, last_name, title)
    return string.format(BODY, external_id, user_name, last_name, last_name,
                         title)
end


-- Returns a function of a user and a body that makes a request of this method.

function M.writer(method)
    local head = method .. " /scim/v2/Users/%s HTTP/1.1\r\nHost: "
        .. wrk.headers["Host"] .. "\r\n"
        .. "Authorization: %s\r\nUser-Agent: bench\r\n"
        .. "Content-Type: application/scim+json\r\n"
        .. "Content-Length: %d\r\n\r\n"

    return function(user, body)
        return string.format(head, M.id(user), M.headers(user).Authorization,
                             #body) .. body
    end
end


-- Returns a request() that gives each of many requests in turn.  They are made
-- beforehand, so that wrk uses little of the processors that it shares with
-- what it measures.

function M.prebuild(make)
    local requests, at = {}, 0

    M.randomise()

    for i = 1, PREBUILT do
        requests[i] = make(M.any_user())
    end

    return function()
        at = at % PREBUILT + 1
        return requests[at]
    end
end


-- Returns BENCH_HEADERS as a table.

function M.header_lines()
    local headers = {}

    for name, value in os.getenv("BENCH_HEADERS"):gmatch("([^:\n]+): ([^\n]+)") do
        headers[name] = value
    end

    return headers
end


-- In milliseconds.

local time = ffi.new("bench_time_t")

function M.now()
    ffi.C.clock_gettime(1, time)
    return tonumber(time.sec) * 1000 + tonumber(time.nsec) / 1e6
end


-- At a fixed rate each request has its time.  wrk asks, for each connection
-- that is free, how many milliseconds it has to wait.

if rate then
    local due

    function delay()
        local t = M.now()

        -- what could not be sent for a tenth of a second is given up

        if not due or due < t - 100 then
            due = t
        end

        due = due + 1000 / rate

        return math.max(0, math.floor(due - t + 0.5))
    end
end


-- One line for the caller.  wrk itself has corrected the latencies: an answer
-- that took several times the usual is also counted as the requests that its
-- connection could not send meanwhile.

function done(summary, latency)
    local e = summary.errors

    print(string.format("bench requests=%d us=%d bytes=%d p50=%d p99=%d max=%d"
                        .. " connect=%d read=%d write=%d status=%d timeout=%d",
                        summary.requests, summary.duration, summary.bytes,
                        latency:percentile(50), latency:percentile(99),
                        latency.max,
                        e.connect, e.read, e.write, e.status, e.timeout))
end


return M
