-- PATCH of "active", of one user after the other: each request changes it.
-- BENCH_INACTIVE is a Lua file that returns the inactive users.  The requests
-- for a user are far apart, and all from one thread.

local here = debug.getinfo(1, "S").source:match("^@(.*/)")
local common = dofile(here .. "common.lua")

local BODY = '{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],'
    .. '"Operations":[{"op":"replace","path":"active","value":%s}]}'

local threads = tonumber(os.getenv("BENCH_THREADS"))
local inactive = {}
local user, write


function init()
    for _, n in ipairs(dofile(os.getenv("BENCH_INACTIVE"))) do
        inactive[n] = true
    end

    user = thread_number
    write = common.writer("PATCH")
end


function request()
    user = user + threads

    if user >= common.users then
        user = thread_number
    end

    inactive[user] = not inactive[user]

    return write(user, string.format(BODY, not inactive[user]))
end
