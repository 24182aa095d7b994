import { hash } from "node:crypto";
import type { RequestRates } from "../ports/request-rates.ts";
import type { RedisLink } from "./redis-link.ts";

/** A minute's requests may come at once; after that they are let in as the minute goes by. The time is the server's. */
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local most = tonumber(ARGV[1])
local kept = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens = tonumber(kept[1]) or most
local filled = math.min(most, tokens + math.max(0, now - (tonumber(kept[2]) or now)) * most / 60000)
local wait = 0
if filled >= 1 then filled = filled - 1 else wait = math.ceil((1 - filled) * 60000 / most) end
redis.call('HSET', KEYS[1], 'tokens', tostring(filled), 'at', tostring(now))
redis.call('PEXPIRE', KEYS[1], 61000)
return wait`;

/** Callers are kept by a hash: a key's id or an address is not shown there. */
export function createRedisRates(link: RedisLink): RequestRates {
  return {
    async take(caller, perMinute) {
      const wait = await link.run(TAKE, `rate:${hash("sha256", caller).slice(0, 32)}`, perMinute);
      return typeof wait === "number" ? wait : undefined;
    },
  };
}
