import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ModelRequest } from "../../fakes/model-server/model-reply.ts";
import { playScript } from "../../fakes/model-server/play-script.ts";
import { pawl } from "../support/pawl.ts";
import { weatherApplication } from "./weather-application.ts";

const TOOLS = ["web_fetch", "files", "bash"];

async function shop(): Promise<{ readonly url: string; readonly host: string }> {
  const server = createServer((_, answer) => {
    answer.writeHead(200, { "content-type": "text/html" }).end("<h1>Umbrella</h1><p>{{ 7 }} EUR</p>");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: `http://${host}/umbrella`, host };
}

/** One turn for each tool, and the answer. */
function shopping(url: string) {
  return playScript({
    turns: [
      { when: { results: 0 }, call: { name: "web_fetch", input: { url } } },
      { when: { results: 1 }, call: { name: "write_file", input: { path: "price.txt", content: "7" } } },
      { when: { results: 2 }, call: { name: "bash", input: { command: "cat price.txt; echo; ls /home | wc -l" } } },
      { when: { results: 3 }, say: "It costs 7 EUR." },
    ],
  });
}

const DEFINITIONS = {
  "shop.json": JSON.stringify({
    agents: [{ name: "Shopper", client_ids: [], model: "fake:haiku", system_prompt: "You shop.", tools: TOOLS }],
    workflows: [{ name: "Shop", steps: ["Shopper"] }],
  }),
  "shop.yaml": JSON.stringify({
    name: "shop",
    steps: [{ id: "look", prompt: "What does it cost?", model: "fake:haiku", tools: TOOLS }],
  }),
};

function resultsIn(requests: readonly ModelRequest[]): readonly string[] {
  return requests.at(-1)?.shown.messages.flatMap(({ results }) => results.map(({ text }) => text)) ?? [];
}

describe("an agent that lists them reads a page, keeps a file and runs a command", () => {
  const WAYS = [
    ["in a file of agents", ["run", "shop.json#Shop", "-i", "message=What does it cost?"]],
    ["in a Sandcastle step", ["run", "shop.yaml", "--agent", "inline"]],
  ] as const;
  for (const [name, args] of WAYS) {
    test(name, async () => {
      const { url, host } = await shop();
      const { folder, model } = await weatherApplication({ files: DEFINITIONS, replies: shopping(url) });

      const ran = await pawl([...args, "--json"], { cwd: folder, env: { PAWL_OUTBOUND__ALLOW: host } });

      expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining("It costs 7 EUR.") });
      const [page, written, printed] = resultsIn(model.requests);
      // What a page says is text, whatever it looks like.
      expect(page).toContain("{{ 7 }} EUR");
      expect(written).toContain("1 bytes");
      expect(printed).toMatch(/7\n0/);
      const runs = join(folder, ".pawl", "storage", "artifacts");
      const [run = ""] = readdirSync(runs);
      expect(readFileSync(join(runs, run, "files", "price.txt"), "utf8")).toBe("7");
    });
  }
});

test("a page on this machine is not read where nobody has allowed it", async () => {
  const { url } = await shop();
  const turns = [
    { when: { results: 0 }, call: { name: "web_fetch", input: { url } } },
    { when: { results: 1 }, say: "I may not." },
  ];
  const { folder, model } = await weatherApplication({ files: DEFINITIONS, replies: playScript({ turns }) });

  const { code } = await pawl(["run", "shop.json#Shop", "-i", "message=What does it cost?"], { cwd: folder });

  expect(code).toBe(0);
  expect(resultsIn(model.requests)).toEqual([expect.stringMatching(/is not a public address/)]);
});
