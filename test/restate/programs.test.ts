import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from "vitest";
import { z } from "zod";
import { approval, each, openPawl, type Pawl, run, workflow } from "../../src/embed/pawl.ts";
import { makeDatabaseNow } from "../support/database-now.ts";
import { RestateServer } from "../support/restate-server.ts";

let server: RestateServer;

beforeAll(async () => {
  server = await RestateServer.open();
});

afterAll(async () => {
  await server?.remove();
});

const called: string[] = [];
const note = (what: string) => {
  called.push(what);
  return what;
};
const order = workflow("order", { input: z.object({ items: z.array(z.string()) }) }, ({ input }) => {
  const picked = each(input.items, (item) => run("pick", { item }, ({ item }) => note(`pick ${item}`)));
  approval("send?", { show: picked });
  return run("send", { picked }, ({ picked }) => note(`send ${picked.length}`));
});

/** Programs in one folder, whose runs the server drives. */
function driven(restate: Readonly<Record<string, unknown>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "pawl-restate-program-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { ingressUrl: url, adminUrl: admin_url } = server;
  const service = `t${randomUUID().replaceAll("-", "")}`;
  const settings = { url, admin_url, service, endpoint_port: 0, register: true, ...restate };
  const secrets = { key: "0123456789abcdef0123456789abcdef" };
  writeFileSync(join(folder, "pawl.yaml"), JSON.stringify({ restate: settings, secrets }));
  return { folder, service };
}

test.each(["SQLite", "PostgreSQL"])(
  "Restate drives the runs of a program over %s, also of one that comes after it",
  {
    timeout: 60_000,
  },
  async (store) => {
    const { folder, service } = driven();
    const place = store === "SQLite" ? {} : { database: makeDatabaseNow(inject("postgresUrl"), service) };
    const open = async (): Promise<Pawl> => {
      const pawl = await openPawl({ folder, data: join(folder, "data"), ...place, workflows: [order] });
      onTestFinished(() => pawl.close());
      return pawl;
    };
    called.length = 0;
    const first = await open();
    const { id } = await first.start(order, { items: ["a", "b"] });
    await expect.poll(async () => (await first.run(id).status()).status, { timeout: 20_000 }).toBe("awaiting_approval");
    expect(await server.query(`SELECT id FROM sys_invocation WHERE target_service_name = '${service}'`)).not.toEqual(
      [],
    );
    await first.close();
    const second = await open();
    await second.approve(id, "send?");
    expect(await second.run(id).result()).toBe("send 2");
    expect(called.toSorted()).toEqual(["pick a", "pick b", "send 2"]);
  },
);

test("a program with the service that servers have is refused, since Restate would call them", async () => {
  const { folder } = driven({ service: "pawl" });
  const opening = openPawl({ folder, data: join(folder, "data"), workflows: [order] });
  await expect(opening).rejects.toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
});
