-- One request again and again: BENCH_METHOD, BENCH_PATH, BENCH_BODY, and
-- BENCH_HEADERS, lines.

local here = debug.getinfo(1, "S").source:match("^@(.*/)")
local common = dofile(here .. "common.lua")

local text


function init()
    local body = os.getenv("BENCH_BODY")

    text = wrk.format(os.getenv("BENCH_METHOD"), os.getenv("BENCH_PATH"),
                      common.header_lines(), body ~= "" and body or nil)
end


function request()
    return text
end
