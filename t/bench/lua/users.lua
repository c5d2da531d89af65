-- GET of the newest hundred users of each tenant in turn.

local here = debug.getinfo(1, "S").source:match("^@(.*/)")
local common = dofile(here .. "common.lua")

local next_request


function init()
    next_request = common.prebuild(function(user)
        return wrk.format("GET", "/v1/admin/users?limit=100",
                          common.headers(user))
    end)
end


function request()
    return next_request()
end
