-- POST of users with new names.

local here = debug.getinfo(1, "S").source:match("^@(.*/)")
local common = dofile(here .. "common.lua")

local HEAD = "POST /scim/v2/Users HTTP/1.1\r\nHost: %s\r\n"
    .. "Authorization: %s\r\nUser-Agent: bench\r\n"
    .. "Content-Type: application/scim+json\r\nContent-Length: %d\r\n\r\n"

local host


function init()
    host = wrk.headers["Host"]
    common.randomise()
end


function request()
    local r = math.random(1, 1000000000000000)
    local body = common.body(string.format("id-%d", r),
                             string.format("grace.%d@example.test", r),
                             "Hopper", "Rear Admiral")

    return string.format(HEAD, host, common.headers(r).Authorization, #body)
           .. body
end
