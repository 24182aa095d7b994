import { expect, test } from "vitest";
import { dataOf } from "../../../../../test/fakes/http-answers.ts";
import { HttpWorld, type HttpWorldOptions } from "../../../../../test/fakes/http-world.ts";
import { task, uhlpGraph } from "../../../../../test/fakes/uhlp-graph.ts";
import { succeed } from "../../../../../test/faults/world.ts";
import type { Task } from "../../../../ports/executor.ts";

const ADMIN: Record<string, string> = { "x-api-key": "configured" };
const SCRIPT = "<script>alert(document.domain)</script>";

function newWorld(options: HttpWorldOptions = {}): HttpWorld {
  const hello = uhlpGraph({ name: "hello", steps: [task("work")] });
  return new HttpWorld([hello], { agent: { provider: "simulated" }, server: { api_key: "configured" }, ...options });
}

async function tenant(world: HttpWorld, id: string): Promise<Record<string, string>> {
  const { key } = await dataOf(world.post("/keys", { name: id, tenant_id: id, scopes: ["write"] }, ADMIN));
  return { "x-api-key": String(key) };
}

const send = (
  world: HttpWorld,
  method: string,
  path: string,
  more: { headers?: Record<string, string>; body?: string } = {},
) => world.request(path, { method, headers: ADMIN, ...more });

test("a file is stored, listed, downloaded and removed; no browser shows it as a page", async () => {
  const world = newWorld();
  const stored = await send(world, "PUT", "/storage/reports/a%20%22b%22.html", { body: SCRIPT });
  expect(await dataOf(stored)).toEqual({ path: 'reports/a "b".html', bytes: SCRIPT.length });
  await send(world, "PUT", "/storage/other", { body: "x" });
  const listed = await dataOf(send(world, "GET", "/storage?prefix=rep"));
  expect(listed["items"]).toMatchObject([{ path: 'reports/a "b".html', bytes: SCRIPT.length }]);
  const first = await dataOf(send(world, "GET", "/storage?limit=1"));
  expect(first).toMatchObject({ items: [{ path: "other" }], next_cursor: "other" });
  expect(await dataOf(send(world, "GET", "/storage?limit=1&cursor=other"))).toMatchObject({ next_cursor: null });

  for (const path of ["/storage/reports/a%20%22b%22.html", "/storage/reports%2Fa%20%22b%22.html"]) {
    const got = await send(world, "GET", path);
    expect(await got.text()).toBe(SCRIPT);
    expect(Object.fromEntries(got.headers)).toMatchObject({
      "content-type": "application/octet-stream",
      "content-disposition": `attachment; filename="a _b_.html"; filename*=UTF-8''a%20%22b%22.html`,
      "content-security-policy": "sandbox; default-src 'none'",
      "x-content-type-options": "nosniff",
    });
  }
  expect((await send(world, "DELETE", "/storage/other")).status).toBe(200);
  expect((await send(world, "DELETE", "/storage/other")).status).toBe(404);
  for (const path of ["/storage/%2e%2e/x", "/storage/%2Fetc%2Fpasswd", "/storage/a%2F..%2F..%2Fx", "/storage/a%00"]) {
    expect((await send(world, "PUT", path, { body: "x" })).status, path).toBeGreaterThanOrEqual(400);
  }
  expect(world.defects).toEqual([]);
});

test("a tenant's storage is a tenant's own, over HTTP and for its runs", async () => {
  const ending = { storagePath: { op: "literal", value: "out.json" }, deadLetter: false } as const;
  const storing = { ...uhlpGraph({ name: "storing", steps: [task("work")] }), ending };
  const work = async ({ files, tenantId }: Task) => {
    await files.write("by-step", `of ${tenantId}`);
    return succeed("done");
  };
  const options = { agent: { provider: "simulated" }, server: { api_key: "configured" }, plays: { work } };
  const world = new HttpWorld([storing], options);
  const [a, b] = [await tenant(world, "a"), await tenant(world, "b")];
  await send(world, "PUT", "/storage/secret", { headers: a, body: "of A" });
  await dataOf(world.post("/workflows/run/sync", { workflow: "storing", input: {} }, a));
  expect((await dataOf(send(world, "GET", "/storage", { headers: a })))["items"]).toMatchObject([
    { path: "by-step" },
    { path: "out.json" },
    { path: "secret" },
  ]);
  expect(Buffer.from((await world.world.files.read("tenants/a/by-step")) ?? []).toString()).toBe("of a");
  expect(await dataOf(send(world, "GET", "/storage", { headers: b }))).toMatchObject({ items: [] });
  for (const path of ["secret", "tenants/a/secret", "..%2Fa%2Fsecret"]) {
    const got = await send(world, "GET", `/storage/${path}`, { headers: b });
    expect(got.status, path).toBeGreaterThanOrEqual(400);
    expect(await got.text()).not.toContain("of A");
  }
  expect(await world.world.files.read("tenants/a/out.json")).toBeDefined();
  expect(await world.world.files.read("out.json")).toBeUndefined();
});

test("what a step produces is an artifact of its run, for whoever may see the run", async () => {
  const files = [
    { name: "../../etc/report.html", content: Buffer.from(SCRIPT) },
    { name: "Report.html", content: Buffer.from("second") },
    { name: "a/report.HTML", content: Buffer.from("third") },
    { name: "..", content: Buffer.from("no name") },
  ];
  const world = newWorld({ plays: { work: () => ({ ...succeed("done"), files }) } });
  const [a, b] = [await tenant(world, "a"), await tenant(world, "b")];
  const { run_id: id } = await dataOf(world.post("/workflows/run/sync", { workflow: "hello", input: {} }, a));
  const { items } = (await dataOf(send(world, "GET", `/runs/${id}/artifacts`, { headers: a }))) as {
    readonly items: readonly { readonly path: string }[];
  };
  expect(items.map(({ path }) => path)).toEqual([
    "steps/work~1/Report-2.html",
    "steps/work~1/file",
    "steps/work~1/report-3.HTML",
    "steps/work~1/report.html",
  ]);
  const got = await send(world, "GET", `/runs/${id}/artifacts/steps/work~1/report.html`, { headers: a });
  expect(await got.text()).toBe(SCRIPT);
  expect(got.headers.get("content-disposition")).toContain("attachment");
  for (const path of ["", "/steps/work~1/report.html"]) {
    expect((await send(world, "GET", `/runs/${id}/artifacts${path}`, { headers: b })).status).toBe(404);
  }
  expect((await send(world, "GET", `/runs/${id}/artifacts/none`)).status).toBe(404);
  expect((await send(world, "GET", `/runs/${id}/artifacts/..%2F..%2Fx`)).status).toBe(400);
});
