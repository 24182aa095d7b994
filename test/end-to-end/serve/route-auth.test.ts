import { expect, test } from "vitest";
import { signWebhook } from "../../../src/operations/webhooks/sign-webhook.ts";
import { application } from "../support/application.ts";
import { startServer } from "../support/server.ts";

const route = (name: string, more = "", pattern = `/${name}`) => `
workflowId: w${name}
startAt: answer
trigger: {type: http, config: {pathPattern: "${pattern}", method: POST${more}}}
steps:
  answer:
    type: control
    subtype: formatResponse
    data: {ok: true}
    end: true
`;

const FILES = {
  "workflows/usual.yaml": route("usual"),
  "workflows/open.yaml": route("open", ", auth: open"),
  "workflows/signed.yaml": route("signed", ", auth: hmac, secret: ORDERS_SECRET"),
  "workflows/unset.yaml": route("unset", ", auth: hmac, secret: NOBODY_SETS_IT"),
};

const BODY = '{"order": 1}';

async function serve(
  env: Readonly<Record<string, string>>,
): Promise<(path: string, headers?: object) => Promise<number>> {
  const { url } = await startServer([], { cwd: application(FILES), env: { ORDERS_SECRET: "of orders", ...env } });
  return async (path, headers = {}) =>
    (await fetch(`${url}/${path}`, { method: "POST", body: BODY, headers: { ...headers } })).status;
}

function signed(secret: string, { at = Date.now(), body = BODY } = {}): object {
  return signWebhook({ secret, id: "msg_1", atMs: at, body });
}

test("with keys a route wants one, unless it says that it is open or checks signatures", async () => {
  const ask = await serve({ API_KEY: "configured" });
  expect(await ask("usual")).toBe(401);
  expect(await ask("usual", { "x-api-key": "configured" })).toBe(200);
  expect(await ask("open")).toBe(200);
  expect(await ask("signed")).toBe(401);
  expect(await ask("signed", { "x-api-key": "configured" })).toBe(401);
  expect(await ask("signed", signed("of orders"))).toBe(200);
  expect(await ask("signed", signed("of somebody else"))).toBe(401);
  expect(await ask("signed", signed("of orders", { body: "{}" }))).toBe(401);
  expect(await ask("signed", signed("of orders", { at: Date.now() - 600_000 }))).toBe(401);
  const { "x-sandcastle-signature": alone } = signed("of orders") as { readonly "x-sandcastle-signature": string };
  expect(await ask("signed", { "x-sandcastle-signature": alone })).toBe(401);
  expect(await ask("unset", signed(""))).toBe(401);
});

test("without keys routes are open, and signatures are checked all the same", async () => {
  const ask = await serve({});
  expect(await ask("usual")).toBe(200);
  expect(await ask("signed")).toBe(401);
  expect(await ask("signed", signed("of orders"))).toBe(200);
});

test("what was signed starts one run of a route, also after a restart, and is not taken for another path", async () => {
  const cwd = application({
    ...FILES,
    "workflows/other.yaml": route("other", ", auth: hmac, secret: ORDERS_SECRET", "/other/{name}"),
  });
  const env = { ORDERS_SECRET: "of orders" };
  const first = await startServer([], { cwd, env });
  const atMs = Date.now();
  const once = signed("of orders", { at: atMs });
  const ask = async (url: string, path: string, headers = once) => {
    const answer = await fetch(`${url}/${path}`, { method: "POST", body: BODY, headers: { ...headers } });
    return { status: answer.status, text: await answer.text(), run: answer.headers.get("x-run-id") };
  };
  const answered = await ask(first.url, "signed");
  expect(answered).toMatchObject({ status: 200, run: expect.any(String) });
  expect(await ask(first.url, "signed")).toEqual(answered);
  const inParallel = await Promise.all([1, 2, 3].map(() => ask(first.url, "other/a")));
  expect(new Set(inParallel.flatMap(({ run }) => run ?? [])).size).toBe(1);
  expect((await ask(first.url, "other/b")).text).toMatch(/IDEMPOTENCY_MISMATCH/);
  const otherwise = signed("of orders", { at: atMs - 1_000 });
  expect((await ask(first.url, "signed", otherwise)).run).not.toBe(answered.run);
  first.kill("SIGKILL");
  await first.ended;
  const second = await startServer([], { cwd, env });
  expect(await ask(second.url, "signed")).toEqual(answered);
});

test("a limit of requests holds for every route, by address where there is no key", async () => {
  const ask = await serve({ API_KEY: "configured", PAWL_SERVER__RATE_LIMIT_PER_MINUTE: "3" });
  const statuses = [
    await ask("open"),
    await ask("signed", signed("of orders")),
    await ask("nowhere"),
    await ask("open"),
  ];
  expect(statuses).toEqual([200, 200, 404, 429]);
  expect(await ask("usual", { "x-api-key": "configured" })).toBe(200);
});
