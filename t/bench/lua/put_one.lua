-- PUT of users of the first tenant by id, each with a title that it did not
-- have, with BENCH_HEADERS, lines.

local here = debug.getinfo(1, "S").source:match("^@(.*/)")
local common = dofile(here .. "common.lua")

local BODY = '{"title":"Rear Admiral %d"}'

local HEAD = "PUT /v1/admin/users/%s HTTP/1.1\r\nHost: %s\r\n%s"
    .. "User-Agent: bench\r\nContent-Length: %d\r\n\r\n"

local host, headers


function init()
    host = wrk.headers["Host"]
    headers = os.getenv("BENCH_HEADERS"):gsub("\n", "\r\n")
    common.randomise()
end


function request()
    local user = common.any_user()
    local body = string.format(BODY, math.random(1, 1000000000000000))

    -- not the first one, whose session is used

    user = math.max(user - common.tenant(user), #common.tokens)

    return string.format(HEAD, common.id(user), host, headers, #body) .. body
end
