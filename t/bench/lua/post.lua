-- POST of BENCH_BODY, as a webhook is sent.

local text


function init()
    text = wrk.format("POST", os.getenv("BENCH_PATH"), {
        ["Content-Type"] = "application/json",
        ["User-Agent"] = "Svc-Webhooks/1",
        ["X-Svc-Event"] = "user.created",
        ["X-Svc-Delivery"] = string.rep("0", 32),
        ["X-Svc-Signature"] = "sha256=" .. string.rep("0", 64),
    }, os.getenv("BENCH_BODY"))
end


function request()
    return text
end


local here = debug.getinfo(1, "S").source:match("^@(.*/)")

dofile(here .. "common.lua")
