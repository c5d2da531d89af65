-- PUT of whole users over SCIM, each with a title that it did not have.

local here = debug.getinfo(1, "S").source:match("^@(.*/)")
local common = dofile(here .. "common.lua")

local write


function init()
    common.randomise()
    write = common.writer("PUT")
end


function request()
    local n = common.any_user()

    return write(n, common.body(
        string.format("ext-%d", n),
        string.format("user%d@bench%d.test", n, common.tenant(n)),
        string.format("Hopper %d", n),
        string.format("Rear Admiral %d", math.random(1, 1000000000000000))))
end
