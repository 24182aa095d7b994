import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect } from "vitest";
import { isAlive } from "../fakes/is-alive.ts";
import type { Play } from "../fakes/model-server/fake-model-server.ts";
import { serveAgents } from "./serve-agents.ts";

const LEDGER = readFileSync(new URL("../fixtures/agents/ledger.py", import.meta.url), "utf8");
const AGENTS_AT_ONCE = 4;
const SERVERS = ["one", "two"];
const TURNS = 3;
const MAX_PAUSE_MS = 60;

interface Line {
  readonly what: "began" | "done";
  readonly name: string;
  readonly amount: number;
  readonly pid: number;
}

interface ToolUse {
  readonly name: string;
  readonly input: { readonly amount: number };
  readonly output: string;
  readonly is_error: boolean;
}

/**
 * Agents at work while their tool servers are killed, each at a moment of its own: in the middle of a call, between two, while
 * it starts. Every call has an answer, the right one or an honest one; what may not be repeated is not; nothing stays.
 */
export async function killServers(kills: number): Promise<void> {
  let amounts = 0;
  /** Each call has an amount that no other has. */
  const replies: Play = ({ shown }) => {
    const results = shown.messages.flatMap((message) => message.results);
    if (results.length >= TURNS * 2) return { do: "say", text: "Done." };
    const calls = ["look", "charge"].map((name) => ({ name, input: { amount: ++amounts } }));
    return { do: "say", calls };
  };
  const files = Object.fromEntries(SERVERS.map((name) => [`${name}/ledger.py`, LEDGER]));
  const served = await serveAgents({ files: { ...files, "agents.json": JSON.stringify(agentsFile()) }, replies });
  const linesOf = () => SERVERS.flatMap((server) => readLines(join(served.folder, server, "ledger.log")));
  const uses: ToolUse[] = [];
  const failures: unknown[] = [];
  const killed = new Set<number>();
  let isOver = false;

  const work = async (server: string) => {
    while (!isOver) {
      const { body } = await served.post(`/agents/${server}/execute`, { user_message: "Go." });
      if (body.error !== undefined || body.tool_uses.length !== TURNS * 2) failures.push(body);
      uses.push(...(body.tool_uses ?? []));
    }
  };
  const kill = async () => {
    while (killed.size < kills) {
      await setTimeout(Math.random() * MAX_PAUSE_MS);
      const last = linesOf().at(killed.size % 2 === 0 ? -1 : 0 - AGENTS_AT_ONCE);
      if (last === undefined || !isAlive(last.pid)) continue;
      process.kill(last.pid, "SIGKILL");
      killed.add(last.pid);
    }
    isOver = true;
  };
  const workers = Array.from({ length: AGENTS_AT_ONCE }, (_, index) => work(SERVERS[index % SERVERS.length] ?? ""));
  let lines: readonly Line[] = [];
  try {
    await Promise.all([kill(), ...workers]);
    lines = linesOf();
  } finally {
    isOver = true;
    await served.close();
  }

  expect(failures).toEqual([]);
  expect(served.defects).toEqual([]);
  expect(killed.size).toBe(kills);
  const began = (name: string) => lines.filter((line) => line.what === "began" && line.name === name);
  const charged = began("charge").map(({ amount }) => amount);
  expect(charged.length).toBe(new Set(charged).size);
  const done = new Set(lines.flatMap(({ what, name, amount }) => (what === "done" ? [`${name} ${amount}: done`] : [])));
  for (const { name, input, output, is_error } of uses) {
    // Nobody is given the answer for somebody else, and none that was never given.
    if (!is_error) expect([output, done.has(output)]).toEqual([`${name} ${input.amount}: done`, true]);
    else expect(output).toMatch(/ended|outcome|reach|lost|broke|start/i);
  }
  // What went wrong is a few calls, not all.
  expect(uses.filter(({ is_error }) => !is_error).length).toBeGreaterThan(uses.length / 4);
  const pids = [...new Set(lines.map(({ pid }) => pid))];
  await expect.poll(() => pids.filter(isAlive), { timeout: 10_000 }).toEqual([]);
}

function agentsFile() {
  return {
    clients: SERVERS.map((name) => ({ client_id: name, server_path: `${name}/ledger.py` })),
    agents: SERVERS.map((name) => ({ name, client_ids: [name], model: "fake:m", system_prompt: "You work." })),
  };
}

function readLines(file: string): readonly Line[] {
  if (!existsSync(file)) return [];
  const whole = readFileSync(file, "utf8").split("\n").slice(0, -1);
  return whole.map((line) => JSON.parse(line) as Line);
}
