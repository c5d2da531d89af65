-- PUT of whole users over SCIM, each with a title that it did not have.

local here = debug.getinfo(1, "S").source:match("^@(.*/)")
local common = dofile(here .. "common.lua")

local BODY = '{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User",'
    .. '"urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"],'
    .. '"externalId":"ext-%d","userName":"user%d@bench%d.test",'
    .. '"active":true,"displayName":"Grace Hopper %d",'
    .. '"name":{"givenName":"Grace","familyName":"Hopper %d"},'
    .. '"title":"Rear Admiral %d","locale":"en-US",'
    .. '"urn:ietf:params:scim:schemas:extension:enterprise:2.0:User":'
    .. '{"department":"Research"}}'

local write


function init()
    common.randomise()
    write = common.writer("PUT")
end


function request()
    local n = common.any_user()

    return write(n, string.format(BODY, n, n, common.tenant(n), n, n,
                                  math.random(1, 1000000000000000)))
end
