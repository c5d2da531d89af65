-- The bundle in BENCH_BODY with another name of its last role, for the tenant
-- of the thread's number.

local here = debug.getinfo(1, "S").source:match("^@(.*/)")
local common = dofile(here .. "common.lua")

local NAME = "Role number 200"

local before, after, headers


function init()
    local file = assert(io.open(os.getenv("BENCH_BODY")))
    local body = file:read("*a")
    local from, to = body:find(NAME, 1, true)

    file:close()
    common.randomise()

    before, after = body:sub(1, from - 1), body:sub(to + 1)
    headers = common.headers(thread_number)
end


function request()
    local name = "Role " .. math.random(1, 1000000000000000)

    return wrk.format("POST", "/v1/admin/config/apply", headers,
                      before .. name .. after)
end
