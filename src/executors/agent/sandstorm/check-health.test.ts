import { afterEach, expect, test } from "vitest";
import {
  type FakeSandstorm,
  type Play,
  startFakeSandstorm,
  toJsonReply,
} from "../../../../test/fakes/sandstorm/fake-sandstorm.ts";
import { SCENARIOS } from "../../../../test/fakes/sandstorm/scenarios.ts";
import { createOutbound } from "../../outbound/outbound.ts";
import { checkHealth } from "./check-health.ts";

const outbound = createOutbound({ allow: [], environment: process.env });

let server: FakeSandstorm | undefined;
afterEach(() => server?.close());

const table: readonly (readonly [string, Play, { readonly ok: boolean; readonly detail: string }])[] = [
  ["of the first servers", () => toJsonReply(200, { status: "ok" }), { ok: true, detail: "status ok" }],
  [
    "with a version",
    () => toJsonReply(200, { status: "ok", version: "0.9.2" }),
    { ok: true, detail: "status ok, version 0.9.2" },
  ],
  [
    "that says which keys the server lacks",
    () => toJsonReply(200, { status: "ok", env: { ANTHROPIC_API_KEY: "set", E2B_API_KEY: "not set" } }),
    { ok: true, detail: "status ok, not set there: E2B_API_KEY" },
  ],
  [
    "of a degraded server",
    () => toJsonReply(200, { status: "degraded", checks: {} }),
    { ok: false, detail: "status degraded" },
  ],
  [
    "of something else",
    () => toJsonReply(200, { hello: 1 }),
    { ok: false, detail: "URL does not answer like a Sandstorm server." },
  ],
  ["that fails", () => toJsonReply(503, {}), { ok: false, detail: "URL answered 503." }],
  [
    "that never comes",
    () => new Promise(() => {}),
    { ok: false, detail: "URL cannot be reached (no answer in time)." },
  ],
];
for (const [name, health, expected] of table) {
  test(`an answer ${name}`, async () => {
    server = await startFakeSandstorm({ play: SCENARIOS.crlf, health });
    const { ok, detail } = await checkHealth(
      server.url,
      outbound,
      name === "that never comes" ? { timeoutMs: 50 } : {},
    );
    expect({ ok, detail: detail.replace(`${server.url}/health`, "URL") }).toEqual(expected);
  });
}

test("a server that does not run", async () => {
  expect(await checkHealth("http://127.0.0.1:1/base/", outbound)).toEqual({
    ok: false,
    detail: "http://127.0.0.1:1/base/health cannot be reached (ECONNREFUSED).",
  });
});

test("an address that is none, and one with a password", async () => {
  expect(await checkHealth("localhost:8000", outbound)).toEqual({
    ok: false,
    detail: "The address is not an http(s) URL.",
  });
  expect((await checkHealth("http://user:secret@127.0.0.1:1", outbound)).detail).not.toContain("secret");
});
