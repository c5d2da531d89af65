-- POST of groups with new names.

local here = debug.getinfo(1, "S").source:match("^@(.*/)")
local common = dofile(here .. "common.lua")

local HEAD = "POST /v1/admin/groups HTTP/1.1\r\nHost: %s\r\n"
    .. "Authorization: %s\r\nUser-Agent: bench\r\nContent-Length: %d\r\n\r\n"

local host


function init()
    host = wrk.headers["Host"]
    common.randomise()
end


function request()
    local r = math.random(1, 1000000000000000)
    local body = string.format('{"name":"bench %d"}', r)

    return string.format(HEAD, host, common.headers(r).Authorization, #body)
           .. body
end
