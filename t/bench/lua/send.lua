-- One request again and again: BENCH_METHOD, BENCH_PATH, BENCH_BODY, and
-- BENCH_HEADERS, lines.

local text


function init()
    local headers = {}

    for name, value in os.getenv("BENCH_HEADERS"):gmatch("([^:\n]+): ([^\n]+)") do
        headers[name] = value
    end

    local body = os.getenv("BENCH_BODY")

    text = wrk.format(os.getenv("BENCH_METHOD"), os.getenv("BENCH_PATH"),
                      headers, body ~= "" and body or nil)
end


function request()
    return text
end


local here = debug.getinfo(1, "S").source:match("^@(.*/)")

dofile(here .. "common.lua")
