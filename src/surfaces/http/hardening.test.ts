import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { FakeClock } from "../../../test/fakes/fake-clock.ts";
import { HttpWorld } from "../../../test/fakes/http-world.ts";
import { task, uhlpGraph } from "../../../test/fakes/uhlp-graph.ts";
import { listenOn } from "../../app/server/listen-on.ts";
import { RateLimiter } from "./gatekeeper.ts";
import type { HttpEnv } from "./http-parts.ts";

const HELLO = uhlpGraph({ name: "hello", steps: [task("work")] });
const PATHS = ["/runs", "/api/runs", "/health", "/healthz", "/openapi.json", "/status", "/nowhere", "/runs/none"];

describe("a rate limit", () => {
  test("lets a minute's requests in at once, then as the minute goes by, each caller alone", async () => {
    const clock = new FakeClock();
    const limiter = new RateLimiter(60, clock);
    const isLetIn = (caller: string) => {
      try {
        limiter.take(caller);
        return true;
      } catch {
        return false;
      }
    };
    const taken = Array.from({ length: 61 }, () => isLetIn("a"));
    expect(taken.lastIndexOf(true)).toBe(59);
    expect(isLetIn("b")).toBe(true);
    await clock.advance(999);
    expect(isLetIn("a")).toBe(false);
    await clock.advance(1);
    expect([isLetIn("a"), isLetIn("a")]).toEqual([true, false]);
  });

  test("is answered with 429 and when to come back, by key; signs of life are free", async () => {
    const world = new HttpWorld([HELLO], { server: { api_key: "configured", rate_limit_per_minute: 2 } });
    const headers = { "x-api-key": "configured" };
    const statuses: number[] = [];
    for (let i = 0; i < 3; i += 1) statuses.push((await world.request("/runs", { headers })).status);
    expect(statuses).toEqual([200, 200, 429]);
    const refused = await world.request("/runs", { headers });
    expect(refused.headers.get("retry-after")).toBe("30");
    expect(await refused.json()).toMatchObject({ data: null, error: { code: "RATE_LIMITED" } });
    expect((await world.request("/health")).status).toBe(200);
  });

  test("holds for whoever guesses keys, however many of them", async () => {
    const world = new HttpWorld([HELLO], { server: { api_key: "configured", rate_limit_per_minute: 2 } });
    const statuses: number[] = [];
    for (let i = 0; i < 3; i += 1) {
      statuses.push((await world.request("/runs", { headers: { "x-api-key": `guess-${i}` } })).status);
    }
    expect(statuses).toEqual([401, 401, 429]);
  });

  test("is not there on loopback without keys, where none is configured", async () => {
    const world = new HttpWorld([HELLO]);
    const answers = await Promise.all(Array.from({ length: 1_300 }, () => world.request("/nowhere")));
    expect(answers.some(({ status }) => status === 429)).toBe(false);
  });
});

describe.each(["by a function call", "over a connection"])("every answer, asked for %s,", (how) => {
  async function ask(world: HttpWorld) {
    if (how === "by a function call") return (path: string, headers = {}) => world.request(path, { headers });
    const listener = await listenOn((request, env) => world.http.fetch(request, env as HttpEnv["Bindings"]), {
      address: "127.0.0.1",
      port: 0,
    });
    onTestFinished(() => {
      listener.hurry(AbortSignal.abort());
      return listener.close();
    });
    return (path: string, headers = {}) => fetch(`${listener.url}${path}`, { headers });
  }

  test("says that it is not to be guessed, framed, kept or told on", async () => {
    const request = await ask(new HttpWorld([HELLO], { server: { api_key: "configured" } }));
    for (const path of PATHS) {
      const { headers } = await request(path);
      expect([path, headers.get("x-content-type-options"), headers.get("content-security-policy")]).toEqual([
        path,
        "nosniff",
        "frame-ancestors 'none'",
      ]);
      expect([path, headers.get("referrer-policy"), headers.get("cache-control")]).toEqual([
        path,
        "no-referrer",
        "no-store",
      ]);
    }
  });

  test("sends the id of its request back, and has one of its own where none can be", async () => {
    const request = await ask(new HttpWorld([HELLO]));
    for (const path of PATHS) {
      const named = await request(path, { "x-request-id": "mine" });
      const unnamed = await request(path, { "x-request-id": "not mine" });
      expect([path, named.headers.get("x-request-id")]).toEqual([path, "mine"]);
      expect([path, unnamed.headers.get("x-request-id")]).toEqual([path, expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    }
  });
});

describe("pages of other origins", () => {
  const preflight = (origin: string) => ({
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": "x-api-key" },
  });

  test("are told nothing by default", async () => {
    const world = new HttpWorld([HELLO]);
    const response = await world.request("/runs", { headers: { origin: "https://app.example" } });
    expect(response.status).toBe(403);
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
  });

  test("are let in where they are listed, and only those", async () => {
    const world = new HttpWorld([HELLO], { server: { cors_origins: ["https://app.example"] } });
    const asked = await world.request("/workflows/run", preflight("https://app.example"));
    expect([asked.status, asked.headers.get("access-control-allow-origin")]).toEqual([204, "https://app.example"]);
    const allowed = await world.request("/runs", { headers: { origin: "https://app.example" } });
    expect([allowed.status, allowed.headers.get("access-control-allow-origin")]).toEqual([200, "https://app.example"]);
    expect(allowed.headers.get("access-control-allow-credentials")).toBeNull();
    for (const origin of ["https://app.example.evil", "http://app.example", "null"]) {
      const refused = await world.request("/runs", { headers: { origin } });
      expect([refused.status, refused.headers.get("access-control-allow-origin")]).toEqual([403, null]);
    }
  });
});

test("a body that is too large is refused on every path, read or not", async () => {
  const world = new HttpWorld([HELLO], { server: { max_body_bytes: 1_024 } });
  for (const path of ["/workflows/run", "/runs/none/cancel", "/execute", "/nowhere", "/queues/q/messages"]) {
    const response = await world.post(path, "x".repeat(2_000), { "content-length": "2000" });
    expect([path, response.status]).toEqual([path, 413]);
  }
});

test("what is refused before it comes to its route is answered as the route answers", async () => {
  const world = new HttpWorld([HELLO], { server: { max_body_bytes: 1_024 } });
  const tooLarge = (path: string) => world.post(path, "x".repeat(2_000), { "content-length": "2000" });
  const answers = await Promise.all(
    [
      await tooLarge("/workflows/run"),
      await world.request("/api/runs", { headers: { host: "elsewhere.example" } }),
      await tooLarge("/execute"),
      await tooLarge("/agents/writer/execute"),
      await tooLarge("/nowhere"),
    ].map((response) => response.json()),
  );
  const remedy = expect.any(String);
  const message = expect.any(String);
  expect(answers).toEqual([
    { data: null, error: { code: "BODY_TOO_LARGE", message, remedy, details: null, request_id: expect.any(String) } },
    { data: null, error: { code: "HOST_REFUSED", message, remedy, details: null, request_id: expect.any(String) } },
    { error: message, details: { code: "BODY_TOO_LARGE", remedy, requestId: expect.any(String) } },
    { detail: message, code: "BODY_TOO_LARGE", remedy, request_id: expect.any(String) },
    { data: null, error: { code: "BODY_TOO_LARGE", message, remedy, details: null, request_id: expect.any(String) } },
  ]);
});

describe("a client that is slow or talks too much", () => {
  async function listen() {
    const listener = await listenOn(() => new Response("hello"), {
      address: "127.0.0.1",
      port: 0,
      requestTimeoutMs: 400,
    });
    onTestFinished(() => {
      listener.hurry(AbortSignal.abort());
      return listener.close();
    });
    return async (sent: string) => {
      const socket = connect(Number(new URL(listener.url).port), "127.0.0.1");
      onTestFinished(() => {
        socket.destroy();
      });
      let received = "";
      socket.setEncoding("utf8").on("data", (text: string) => {
        received += text;
      });
      // A server that hangs up may reset the connection.
      socket.on("error", () => undefined);
      await once(socket, "connect");
      socket.write(sent);
      await new Promise((resolve) => socket.once("close", resolve));
      return received;
    };
  }

  test("is hung up on that never ends its headers, or its body", async () => {
    const send = await listen();
    expect(await send("GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: ")).not.toContain("hello");
    const headers = "POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 10\r\n\r\n";
    expect(await send(`${headers}x`)).not.toContain("HTTP/1.1 500");
  });

  test("is refused whose headers are larger than 16 kB", async () => {
    const send = await listen();
    const answer = await send(`GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx-large: ${"x".repeat(20_000)}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 431/);
  });
});
