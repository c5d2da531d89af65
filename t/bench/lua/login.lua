-- Sign-ins of the first thousand users with the password BENCH_PASSWORD.

local here = debug.getinfo(1, "S").source:match("^@(.*/)")
local common = dofile(here .. "common.lua")

local BODY = '{"email":"user%d@bench%d.test","password":"%s","tenant":"bench%d"}'

local next_request


function init()
    local password = os.getenv("BENCH_PASSWORD")

    next_request = common.prebuild(function(user)
        local n = user % 1000
        local tenant = common.tenant(n)

        return wrk.format("POST", "/v1/auth/login", nil,
                          string.format(BODY, n, tenant, password, tenant))
    end)
end


function request()
    return next_request()
end
