-- POST of refresh tokens to BENCH_PATH: those of the file BENCH_LINES, and then
-- those of the answers.

local here = debug.getinfo(1, "S").source:match("^@(.*/)")
local common = dofile(here .. "common.lua")

local THREADS = tonumber(os.getenv("BENCH_THREADS"))

local path = os.getenv("BENCH_PATH")
local tokens, first, last = {}, 1, 0
local headers


function init()
    local n = 0

    headers = common.header_lines()

    for line in io.lines(os.getenv("BENCH_LINES")) do
        if n % THREADS == thread_number then
            last = last + 1
            tokens[last] = line
        end

        n = n + 1
    end
end


function request()
    local token = tokens[first]

    tokens[first] = nil
    first = first + 1

    return wrk.format("POST", path, headers,
                      "grant_type=refresh_token&refresh_token=" .. token)
end


function response(status, _, body)
    common.answered(status, _, body)
    last = last + 1
    tokens[last] = body:match('"refresh_token":"([^"]+)"')
end
