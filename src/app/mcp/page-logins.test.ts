import { expect, test } from "vitest";
import { FakeClock } from "../../../test/fakes/fake-clock.ts";
import { HttpWorld } from "../../../test/fakes/http-world.ts";
import { createPageLogins } from "./page-logins.ts";

const MINUTE = 60_000;

/** Logins that any code finishes, and those that were. */
function begin() {
  const finished: string[] = [];
  let no = 0;
  const beginLogin = async (server: string, redirectUrl: string) => {
    no += 1;
    const state = `state-${no}`;
    return {
      address: new URL(`https://issuer.example/?${new URLSearchParams({ state, redirect_uri: redirectUrl })}`),
      isAnswered: (query: URLSearchParams) => query.get("state") === state,
      finish: async (query: URLSearchParams) => {
        finished.push(`${server} ${query.get("code")}`);
        return "tools";
      },
    };
  };
  return { beginLogin, finished };
}

const answer = (state: string) => new URLSearchParams({ state, code: "a-code" });

test("an answer is taken once, of the key that began, for five minutes", async () => {
  const { beginLogin, finished } = begin();
  const clock = new FakeClock();
  const { begin: start, finish } = createPageLogins(beginLogin, clock);
  const redirectUrl = "http://127.0.0.1:1/ui/agents";
  expect(await start("shop", { redirectUrl, by: "ada" })).toContain("state=state-1");
  await expect(finish(answer("state-1"), "bob")).rejects.toMatchObject({ code: "MCP_LOGIN_FAILED" });
  await expect(finish(answer("state-1"), undefined)).rejects.toMatchObject({ code: "MCP_LOGIN_FAILED" });
  await expect(finish(answer("state-2"), "ada")).rejects.toMatchObject({ code: "MCP_LOGIN_FAILED" });
  expect(finished).toEqual([]);
  expect(await finish(answer("state-1"), "ada")).toEqual({ name: "shop", scope: "tools" });
  await expect(finish(answer("state-1"), "ada")).rejects.toMatchObject({ code: "MCP_LOGIN_FAILED" });
  await start("shop", { redirectUrl, by: "ada" });
  await clock.advance(5 * MINUTE);
  await expect(finish(answer("state-2"), "ada")).rejects.toThrow("five minutes");
  expect(finished).toEqual(["shop a-code"]);
});

test("a login comes back to this server alone, and is begun and finished by whoever may write, of no tenant", async () => {
  const { beginLogin, finished } = begin();
  const cors_origins = ["https://pawl.example"];
  const world = new HttpWorld([], { beginLogin, server: { api_key: "configured", cors_origins } });
  const ask = async (path: string, body: object, key = "configured") => {
    const response = await world.post(path, body, { "x-api-key": key });
    return (await response.json()) as { readonly data: { readonly address: string }; readonly error: { code: string } };
  };
  const keyOf = async (wanted: object) => {
    const response = await world.post("/keys", { name: "test", ...wanted }, { "x-api-key": "configured" });
    return ((await response.json()) as { readonly data: { readonly key: string } }).data.key;
  };
  for (const page of ["https://evil.example", "http://pawl.example", "http://127.0.0.1.evil.example"])
    expect(await ask("/mcp-servers/shop/login", { page })).toMatchObject({ error: { code: "MCP_LOGIN_FAILED" } });
  expect(await ask("/mcp-servers/shop/login", { page: "javascript:x" })).toMatchObject({
    error: { code: "REQUEST_INVALID" },
  });
  const { data } = await ask("/mcp-servers/shop/login", { page: "http://localhost:8080/ui/runs?x" });
  expect(new URL(data.address).searchParams.get("redirect_uri")).toBe("http://localhost:8080/ui/agents");
  const [reader, theirs, writer] = [
    await keyOf({ scopes: ["run"] }),
    await keyOf({ scopes: ["write"], tenant_id: "theirs" }),
    await keyOf({ scopes: ["write"] }),
  ];
  for (const key of [reader, theirs]) {
    const forbidden = { error: { code: "FORBIDDEN" } };
    expect(await ask("/mcp-servers/shop/login", { page: "http://localhost:1" }, key)).toMatchObject(forbidden);
    expect(await ask("/mcp-servers/login", { state: "state-1", code: "c" }, key)).toMatchObject(forbidden);
  }
  const { data: begun } = await ask("/mcp-servers/shop/login", { page: "https://pawl.example" }, writer);
  expect(new URL(begun.address).searchParams.get("redirect_uri")).toBe("https://pawl.example/ui/agents");
  const back = { state: "state-2", code: "c" };
  expect(await ask("/mcp-servers/login", back)).toMatchObject({ error: { code: "MCP_LOGIN_FAILED" } });
  expect(await ask("/mcp-servers/login", back, writer)).toMatchObject({ data: { name: "shop", scope: "tools" } });
  expect(finished).toEqual(["shop c"]);
});
