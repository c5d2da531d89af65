-- POST of BENCH_BODY to BENCH_PATH, with BENCH_HEADERS.  The access tokens in
-- the answers are written to the file BENCH_LINES, each as a line with a form,
-- as lines.lua reads it.  One thread.

local here = debug.getinfo(1, "S").source:match("^@(.*/)")
local common = dofile(here .. "common.lua")

local text, file


function init()
    text = wrk.format("POST", os.getenv("BENCH_PATH"), common.header_lines(),
                      os.getenv("BENCH_BODY"))
    file = assert(io.open(os.getenv("BENCH_LINES"), "w"))
    file:setvbuf("line")                -- nobody tells a thread that it ends
end


function request()
    return text
end


function response(status, headers, body)
    common.answered(status, headers, body)

    local token = body:match('"access_token":"([^"]+)"')

    if token then
        file:write(wrk.headers["Host"], " token=", token, "\n")
    end
end
