import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { openToolbox } from "../../../test/fakes/mcp-server/open-toolbox.ts";
import { fakeSettings, oldSettings } from "../../../test/fakes/mcp-server/server-entries.ts";
import type { JsonObject } from "../../core/json.ts";

const NEVER = new AbortController().signal;
const folder = mkdtempSync(`${tmpdir()}/pawl-roots-`);
const MODERN = { protocol: "2026-07-28" };
const SERVERS = {
  old: oldSettings([], { elicitation: "refuse" }),
  rooted: oldSettings([], { roots: [folder] }),
  modern: fakeSettings([], MODERN),
  modernRooted: fakeSettings([], { ...MODERN, roots: [folder] }),
};

const world = openToolbox({}, { timeoutMs: 20_000 }, (close) => afterAll(close));
afterAll(() => rmSync(folder, { recursive: true }));

async function callTool(server: keyof typeof SERVERS, tool: string, args: JsonObject) {
  const offer = await world.toolbox.offer({ servers: { [server]: SERVERS[server] } }, NEVER);
  const found = offer.tools.find((each) => each.tool === tool);
  if (found === undefined) throw new Error(`There is no ${tool}: ${JSON.stringify(offer.missing)}`);
  return found.call(args, { idempotencyKey: "run:step:1" }, NEVER);
}

describe("a server of an older revision that asks in the middle of a call", () => {
  const REFUSED = ["elicitation/create", "sampling/createMessage", "roots/list", "secrets/list"];
  for (const method of REFUSED) {
    test(`for ${method}, which nobody has offered, is refused, and its call goes on`, async () => {
      const { isError, text } = await callTool("old", "ask", { method });
      expect(isError).toBe(false);
      expect(JSON.parse(text)).toMatchObject({ error: { code: -32601, message: expect.stringContaining("ethod") } });
    });
  }

  test("is told the roots that it has, where it asks for them", async () => {
    const { text } = await callTool("rooted", "ask", { method: "roots/list" });
    expect(JSON.parse(text)).toMatchObject({ result: { roots: [{ uri: pathToFileURL(folder).href }] } });
  });
});

describe("a server of the revision 2026-07-28 whose tool needs something first", () => {
  test("is told its roots, and then has done it", async () => {
    const { isError, text } = await callTool("modernRooted", "need", { what: "roots" });
    expect(isError).toBe(false);
    expect(JSON.parse(text)).toMatchObject({ it: { roots: [{ uri: pathToFileURL(folder).href }] } });
  });

  for (const what of ["elicitation", "sampling", "roots"]) {
    test(`fails clearly where it wants ${what}, which nobody has offered`, async () => {
      const { isError, text } = await callTool("modern", "need", { what });
      expect(isError).toBe(true);
      expect(text).toMatch(/"modern"/);
      expect(text).toContain(what);
    });
  }

  test("is given up after some rounds where it never has enough", async () => {
    const { isError, text } = await callTool("modernRooted", "need_for_ever", { what: "roots" });
    expect(isError).toBe(true);
    expect(text).toMatch(/round/);
  });

  test("is heard when its tools have changed (`subscriptions/listen`)", async () => {
    await callTool("modern", "grow", {});
    const names = async () => {
      const { tools } = await world.toolbox.offer({ servers: { modern: SERVERS.modern } }, NEVER);
      return tools.map(({ tool }) => tool);
    };
    await expect.poll(names).toContain("grown");
  });

  test("goes on working after all that", async () => {
    expect(await callTool("modern", "need", {})).toMatchObject({ isError: false, text: "Nothing is needed." });
  });
});
