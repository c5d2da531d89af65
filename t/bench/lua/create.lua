-- POST of users with new names, in the shape that Entra ID sends.

local here = debug.getinfo(1, "S").source:match("^@(.*/)")
local common = dofile(here .. "common.lua")

local BODY = '{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User",'
    .. '"urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"],'
    .. '"externalId":"id-%d","userName":"grace.%d@example.test",'
    .. '"active":true,"displayName":"Grace Hopper",'
    .. '"name":{"givenName":"Grace","familyName":"Hopper"},'
    .. '"title":"Rear Admiral","locale":"en-US",'
    .. '"urn:ietf:params:scim:schemas:extension:enterprise:2.0:User":'
    .. '{"department":"Research"}}'

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
    local body = string.format(BODY, r, r)

    return string.format(HEAD, host, common.headers(r).Authorization, #body)
           .. body
end
