-- A plan of the bundle in BENCH_BODY, for any tenant.

local here = debug.getinfo(1, "S").source:match("^@(.*/)")
local common = dofile(here .. "common.lua")

local requests = {}


function init()
    local file = assert(io.open(os.getenv("BENCH_BODY")))
    local body = file:read("*a")

    file:close()
    common.randomise()

    for i = 0, 9 do
        requests[i] = wrk.format("POST", "/v1/admin/config/plan",
                                 common.headers(i), body)
    end
end


function request()
    return requests[math.random(0, 9)]
end
