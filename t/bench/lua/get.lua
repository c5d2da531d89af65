-- GET of users by id.

local here = debug.getinfo(1, "S").source:match("^@(.*/)")
local common = dofile(here .. "common.lua")

local next_request


function init()
    next_request = common.prebuild(function(user)
        return wrk.format("GET", common.prefix .. "/scim/v2/Users/"
                                 .. common.id(user), common.headers(user))
    end)
end


function request()
    return next_request()
end
