import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createApp } from "../../src/app/create-app.ts";
import { isJsonObject } from "../../src/core/json.ts";
import { newRunId } from "../../src/hosts/session/new-run.ts";
import type { OpenApplication } from "../../src/operations/application/ports.ts";
import { readRunResult } from "../../src/operations/runs/read-run-result.ts";
import { prepareRun } from "../../src/operations/start/prepare-run.ts";
import { type Play, startFakeModelServer } from "../../test/fakes/model-server/fake-model-server.ts";
import { saidIn } from "../../test/fakes/model-server/shown.ts";
import { type Comparison, compare, timed } from "../support/compare.ts";
import { heapMib, MIB } from "../support/heap-mib.ts";

const SERVER = fileURLToPath(new URL("../../test/fakes/mcp-server/main.ts", import.meta.url));
const AGENTS = 50;
const CALLS = 3;

/**
 * 50 agents at once on one host, each with a conversation of its own: the model asks for tools and says in the end what it
 * has heard. Beside it the same requests and calls without a record, a run or a check.
 */
export async function benchWholeAgents(rounds: number): Promise<Comparison[]> {
  const model = await startFakeModelServer({ replies: talk, keepsRequests: false });
  const folder = mkdtempSync(join(tmpdir(), "pawl-bench-agents-"));
  writeFileSync(join(folder, "agents.json"), JSON.stringify(AGENTS_FILE));
  const provider = { kind: "anthropic", base_url: model.url, api_key: "any" };
  writeFileSync(join(folder, "pawl.yaml"), JSON.stringify({ models: { providers: { fake: provider } } }));
  const app = await createApp({
    appDir: folder,
    flags: {},
    environment: { ...process.env },
    program: [],
    tell: () => undefined,
    onDefect: (error) => console.error(error),
  });
  const bare = new Client({ name: "bench", version: "0.0.0" });
  try {
    await bare.connect(new StdioClientTransport({ command: process.execPath, args: [SERVER], stderr: "ignore" }));
    await app.host();
    const heaps: string[] = [];
    const comparison = await compare({
      name: `${AGENTS} agents at once, ${AGENTS * (CALLS + 1)} turns of a model and ${AGENTS * CALLS} tool calls, durable`,
      floorName: "the bare requests and calls",
      rounds,
      floor: () => timed(() => atOnce((name) => askBare(model.url, bare, name))),
      ours: async () => {
        const durationMs = await timed(() => atOnce((name) => askAgent(app, name)));
        heaps.push(heapMib().toFixed(1));
        return durationMs;
      },
    });
    const rss = (process.memoryUsage.rss() / MIB).toFixed(0);
    const note = `heap after each ${AGENTS} runs ${heaps.join(", ")} MiB, ${rss} MiB resident; no answer for anybody else`;
    return [{ ...comparison, note }];
  } finally {
    await app.park(AbortSignal.abort());
    await app.close();
    await bare.close();
    await model.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

const AGENTS_FILE = {
  clients: [{ client_id: "echo", command: process.execPath, args: [SERVER] }],
  agents: [{ name: "Parrot", model: "fake:any", client_ids: ["echo"], system_prompt: "You repeat what you hear." }],
  workflows: [{ name: "Repeat", steps: ["Parrot"] }],
};

/** The names that it has heard in one conversation: its own, again and again, or somebody's else. */
const talk: Play = ({ shown }) => {
  const heard = shown.messages.flatMap(({ results }) => results.map(({ text }) => text));
  const [name = ""] = saidIn(shown);
  if (heard.length < CALLS) return { do: "say", calls: [{ name: "say", input: { text: name } }] };
  return { do: "say", text: [...new Set([name, ...heard])].join(", ") };
};

async function atOnce(ask: (name: string) => Promise<string>): Promise<void> {
  await Promise.all(
    Array.from({ length: AGENTS }, async (_, agent) => {
      const name = `agent ${agent}`;
      const heard = await ask(name);
      if (heard !== name) throw new Error(`${name} has heard of ${heard}.`);
    }),
  );
}

async function askAgent(app: OpenApplication, name: string): Promise<string> {
  const request = { workflow: "Repeat", folder: app.appDir, inputPairs: [`message=${name}`] };
  const prepared = { ...(await prepareRun(app, request)), runId: newRunId(app.clock.now()) };
  const host = await app.host();
  await host.startRun(prepared);
  const { outcome } = await readRunResult(await app.records(), await host.settled(prepared.runId));
  if (outcome.is === "failed") return `${outcome.code} ${outcome.message}`;
  return isJsonObject(outcome.output) ? String(outcome.output["final_message"]) : "nothing";
}

interface Block {
  readonly type: string;
  readonly id?: string;
  readonly text?: string;
}

/** The same over fetch and the official client: one conversation, kept in a variable. */
async function askBare(url: string, tools: Client, name: string): Promise<string> {
  const messages: unknown[] = [{ role: "user", content: name }];
  for (;;) {
    const response = await fetch(`${url}/messages`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": "any" },
      body: JSON.stringify({ model: "any", max_tokens: 4_096, messages }),
    });
    const { content } = (await response.json()) as { readonly content: readonly Block[] };
    const calls = content.filter(({ type }) => type === "tool_use");
    if (calls.length === 0) return content[0]?.text ?? "";
    const results = await Promise.all(
      calls.map(async ({ id }) => {
        const { content: said } = await tools.callTool({ name: "say", arguments: { text: name } });
        return { type: "tool_result", tool_use_id: id, content: said };
      }),
    );
    messages.push({ role: "assistant", content }, { role: "user", content: results });
  }
}
