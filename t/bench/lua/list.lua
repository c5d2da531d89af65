-- The plain list: the first 200 users of a tenant.

local here = debug.getinfo(1, "S").source:match("^@(.*/)")
local common = dofile(here .. "common.lua")

local text


function init()
    text = wrk.format("GET", "/scim/v2/Users", common.headers(0))
end


function request()
    return text
end
