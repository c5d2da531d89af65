-- The filter by which directories look for a user before they create it.

local here = debug.getinfo(1, "S").source:match("^@(.*/)")
local common = dofile(here .. "common.lua")

local next_request


function init()
    next_request = common.prebuild(function(user)
        local name = string.format("user%d%%40bench%d.test", user,
                                   common.tenant(user))

        return wrk.format("GET", "/scim/v2/Users?filter=userName%20eq%20%22"
                                 .. name .. "%22", common.headers(user))
    end)
end


function request()
    return next_request()
end
