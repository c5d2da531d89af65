-- Each line of the file BENCH_LINES once, with BENCH_HEADERS.  POST: a Host and a
-- body, to BENCH_PATH.  GET: a path and a cookie.  It ends early when there are no
-- more lines.  One thread.

local here = debug.getinfo(1, "S").source:match("^@(.*/)")
local common = dofile(here .. "common.lua")

local LEFT = 64                         -- what an event more may still send

local requests, at = {}, 0


function init()
    local headers = common.header_lines()
    local method, path, body = os.getenv("BENCH_METHOD"), os.getenv("BENCH_PATH"), nil

    for line in io.lines(os.getenv("BENCH_LINES")) do
        if method == "POST" then
            headers["Host"], body = line:match("^(%S+) (.*)$")
        else
            path, headers["Cookie"] = line:match("^(%S+) (.*)$")
        end

        requests[#requests + 1] = wrk.format(method, path, headers, body)
    end

    began = common.now()
end


function request()
    at = at + 1

    if at == #requests - LEFT then
        took = common.now() - began
        wrk.thread:stop()
    end

    return requests[at]
end


local setup_common, done_common, only = setup, done, nil


function setup(thread)
    setup_common(thread)
    only = thread
end


function done(summary, latency)
    local took = only:get("took")

    if took then
        summary.duration = took * 1000
    end

    done_common(summary, latency)
end
