-- Requests for wrk: KIND, NODES, RATE and CONNECTIONS come from the environment. Each connection waits between its requests, for a random
-- time, so that together they make RATE requests per second (0: as fast as answers come). Many connections that wait long behave as
-- clients that know nothing of each other: the rate hardly depends on how fast answers come, and some requests come together.
-- "mixed" is 2 % /top and 98 % /score of 3 pairs.
local kind = os.getenv("KIND")
local nodes = tonumber(os.getenv("NODES"))
local rate = tonumber(os.getenv("RATE"))
local connections = tonumber(os.getenv("CONNECTIONS"))
local prepared = {} -- 1,000 requests, in random order: making them takes processor time from the server
math.randomseed(7)

local function make()
  if kind == "top" or (kind == "mixed" and math.random(50) == 1) then
    return wrk.format("GET", "/top?k=10&node=" .. math.random(0, nodes - 1))
  end
  local pairs = {}
  for i = 1, kind == "score" and 100 or 3 do
    local u = math.random(0, nodes - 1)
    pairs[i] = string.format("[%d,%d]", u, (u + math.random(1, nodes - 1)) % nodes)
  end
  return wrk.format("POST", "/score", {["Content-Type"] = "application/json"}, '{"pairs":[' .. table.concat(pairs, ",") .. "]}")
end

function init(args)
  for i = 1, 1000 do prepared[i] = make() end
end

function delay()
  if rate == 0 then return 0 end
  return math.floor(1000 * 2 * connections / rate * math.random() + 0.5) -- milliseconds
end

function request()
  return prepared[math.random(#prepared)]
end

function done(summary, latency, requests)
  local failed = summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
  io.write(string.format("RESULT %s: %d requests, %d failed, %.0f per second; ms: p50 %.1f, p90 %.1f, p99 %.1f, max %.1f\n", kind, summary.requests,
    failed, summary.requests / summary.duration * 1e6, latency:percentile(50) / 1e3, latency:percentile(90) / 1e3,
    latency:percentile(99) / 1e3, latency.max / 1e3))
end
