-- POST of BENCH_BODY to BENCH_PATH, each as a random one of the clients in the
-- file BENCH_LINES, which has values of "Authorization".

local here = debug.getinfo(1, "S").source:match("^@(.*/)")
local common = dofile(here .. "common.lua")

local requests = {}


function init()
    local headers = common.header_lines()

    common.randomise()

    for line in io.lines(os.getenv("BENCH_LINES")) do
        headers["Authorization"] = line
        requests[#requests + 1] = wrk.format("POST", os.getenv("BENCH_PATH"),
                                             headers, os.getenv("BENCH_BODY"))
    end
end


function request()
    return requests[math.random(#requests)]
end
