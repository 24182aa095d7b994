import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getGlobalDispatcher, setGlobalDispatcher } from "undici";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type FakeProxy, startFakeProxy } from "../../test/fakes/fake-proxy.ts";
import { agentTask } from "../../test/fakes/sandstorm/agent-task.ts";
import { startFakeSandstorm } from "../../test/fakes/sandstorm/fake-sandstorm.ts";
import { SCENARIOS } from "../../test/fakes/sandstorm/scenarios.ts";
import { readProxies } from "../core/proxy-variables.ts";
import { createSandstormExecutor } from "../executors/agent/sandstorm/sandstorm-executor.ts";
import { createOutbound } from "../executors/outbound/outbound.ts";
import { useProxies } from "./use-proxies.ts";

const outbound = createOutbound({ allow: [], environment: process.env });

const original = getGlobalDispatcher();
const server = createServer((_, answer) => answer.end("hello"));
let target = "";
let proxy: FakeProxy;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  target = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(async () => {
  proxy = await startFakeProxy(target);
});
afterEach(async () => {
  setGlobalDispatcher(original);
  vi.unstubAllEnvs();
  await proxy.close();
});
afterAll(() => server.close());

function use(env: Readonly<Record<string, string>>): void {
  const proxies = readProxies(env);
  if (proxies !== undefined) useProxies(proxies);
}

async function read(url: string): Promise<string> {
  return (await fetch(url)).text();
}

describe("a request by fetch", () => {
  test("goes through the proxy that HTTP_PROXY names", async () => {
    use({ HTTP_PROXY: proxy.url });
    expect(await read("http://models.invalid/v1")).toBe("hello");
    expect(proxy.asked[0]).toMatch(/^models\.invalid/);
  });

  test("to https is tunnelled through the proxy that https_proxy names", async () => {
    use({ https_proxy: proxy.url });
    // The server speaks no TLS: what counts is that the proxy was asked for a tunnel.
    await expect(read("https://models.invalid/v1")).rejects.toThrow();
    expect(proxy.asked).toContain("models.invalid:443");
  });

  for (const noProxy of ["models.invalid", ".invalid", "example.com,models.invalid", "*"]) {
    test(`goes directly to a host that NO_PROXY names as ${noProxy}`, async () => {
      use({ HTTP_PROXY: proxy.url, NO_PROXY: noProxy });
      await expect(read("http://models.invalid/v1")).rejects.toThrow();
      expect(proxy.asked).toEqual([]);
    });
  }

  test("goes directly to this machine", async () => {
    use({ HTTP_PROXY: proxy.url });
    expect(await read(target)).toBe("hello");
    expect(await read(target.replace("127.0.0.1", "localhost"))).toBe("hello");
    expect(proxy.asked).toEqual([]);
  });
});

test("an environment without a proxy changes nothing", () => {
  expect(readProxies({ NO_PROXY: "x", HTTP_PROXY: "" })).toBeUndefined();
});

test("a Sandstorm server is asked through the proxy, and directly where it runs on this machine", async () => {
  const fake = await startFakeSandstorm({ play: SCENARIOS.crlf });
  const toFake = await startFakeProxy(fake.url);
  vi.stubEnv("HTTP_PROXY", toFake.url);
  vi.stubEnv("NO_PROXY", "");
  const ask = (baseUrl: string) =>
    createSandstormExecutor({ outbound, baseUrl }).run(agentTask(), new AbortController().signal);
  try {
    expect(await ask("http://agents.invalid")).toMatchObject({ status: "succeeded" });
    expect(toFake.asked[0]).toMatch(/^agents\.invalid/);
    expect(await ask(fake.url)).toMatchObject({ status: "succeeded" });
    expect(toFake.asked).toHaveLength(1);
  } finally {
    await toFake.close();
    await fake.close();
  }
});
