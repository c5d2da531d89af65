-- GET of BENCH_PATH, without a credential.

local text


function init()
    text = wrk.format("GET", os.getenv("BENCH_PATH"))
end


function request()
    return text
end


local here = debug.getinfo(1, "S").source:match("^@(.*/)")

dofile(here .. "common.lua")
