-- PUT of users by id, each with a title that it did not have.

local here = debug.getinfo(1, "S").source:match("^@(.*/)")
local common = dofile(here .. "common.lua")

local BODY = '{"title":"Rear Admiral %d"}'

local HEAD = "PUT /v1/admin/users/%s HTTP/1.1\r\nHost: %s\r\n"
    .. "Authorization: %s\r\nUser-Agent: bench\r\n"
    .. "Content-Length: %d\r\n\r\n"

local host


function init()
    host = wrk.headers["Host"]
    common.randomise()
end


function request()
    local user = common.any_user()
    local body = string.format(BODY, math.random(1, 1000000000000000))

    return string.format(HEAD, common.id(user), host,
                         common.headers(user).Authorization, #body) .. body
end
