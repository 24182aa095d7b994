import { setTimeout as wait } from "node:timers/promises";
import { Random } from "../../simulation/random.ts";
import type { Violation } from "../canaries.ts";
import { inParallel, type Result } from "../parts.ts";
import { Grounds, type Scene } from "./grounds.ts";
import { endMarked, type SpawnedPawl, spawnPawl } from "./spawn-pawl.ts";
import { START_FAULTS } from "./start-faults.ts";

/** A start is over by then: the program is ready, or has ended with a code and a message. */
const START_MS = 30_000;
const LOOK_MS = 100;

const DOORS = ["serve", "serve", "serve", "run", "run", "detach", "mcp", "mcp terminal"] as const;
type Door = (typeof DOORS)[number];

const RUN_WORKFLOW = {
  name: "run_workflow",
  arguments: { workflow_name: "question", input: { question: "4" } },
};

interface StartOptions {
  readonly seed: number;
  readonly count: number;
  /** How many at once. */
  readonly width: number;
  /** What each has come to. */
  tell?(line: string): void;
}

/** Starts the program again and again, each time with something else that fails, and looks for a third state. */
export async function attackStarts({ seed, count, width, tell }: StartOptions): Promise<Result> {
  const grounds = await Grounds.open();
  const violations: Violation[] = [];
  const states = new Map<string, number>();
  try {
    await inParallel(
      Array.from({ length: count }, (_, index) => index),
      async (index) => {
        const { told, state, trouble } = await startOnce(grounds, new Random(seed * 100_003 + index));
        states.set(state, (states.get(state) ?? 0) + 1);
        tell?.(`${trouble === undefined ? "ok  " : "FAIL"} ${index} ${told}: ${state}`);
        if (trouble !== undefined) violations.push({ kind: "start", detail: `${index} ${told}: ${trouble}` });
      },
      width,
    );
  } finally {
    await grounds.close();
  }
  const each = [...states].sort(([, a], [, b]) => b - a).map(([state, times]) => `${state} ${times}`);
  return { told: `${count} starts: ${each.join(", ")}`, violations };
}

interface Started {
  readonly told: string;
  readonly state: string;
  /** Undefined: it is ready, or has ended as it should. */
  readonly trouble: string | undefined;
}

async function startOnce(grounds: Grounds, random: Random): Promise<Started> {
  const scene = await grounds.scene(random);
  const door = random.pick(DOORS);
  const faults = await drawFaults(scene);
  const told = `${door} on ${scene.database === undefined ? "a folder" : "a database"} with ${faults.join(" and ")}`;
  const program = spawnPawl(argumentsOf(door, scene), { cwd: scene.app, env: scene.env, by: scene.by });
  const timers = scene.later.map(({ afterMs, act }) => setTimeout(() => void act(), afterMs));
  try {
    const began = performance.now();
    const isReady = await becomesReady(program, door);
    const seconds = ((performance.now() - began) / 1_000).toFixed(1);
    const { state, trouble } = judge(program, isReady);
    return { told: `${told}, ${seconds} s`, state, trouble };
  } finally {
    for (const timer of timers) clearTimeout(timer);
    endMarked(program.mark);
    for (const undo of scene.undo.toReversed()) await Promise.resolve(undo()).catch(() => undefined);
  }
}

async function drawFaults(scene: Scene): Promise<readonly string[]> {
  const names = Object.keys(START_FAULTS);
  const told: string[] = [];
  const wanted = scene.random.chance(0.25) ? 2 : 1;
  while (told.length < wanted) {
    const name = names[scene.random.int(0, names.length - 1)] ?? "";
    const detail = await START_FAULTS[name]?.(scene);
    if (detail !== undefined) told.push(`${name} (${detail})`);
  }
  return told;
}

function argumentsOf(door: Door, { args, random, database }: Scene): readonly string[] {
  if (door === "run") return ["run", "question", "-i", "question=3"];
  if (door === "detach") return ["run", "question", "-i", "question=3", "--detach"];
  if (door === "mcp" || door === "mcp terminal")
    return [...door.split(" "), ...(door === "mcp" ? [] : ["--tools", "terminal,runs"])];
  const roles =
    database === undefined || random.chance(0.5) ? [] : ["--role", random.pick(["api", "worker", "scheduler"])];
  return ["serve", ...(args.length > 0 ? args : ["--port", "0"]), ...roles];
}

/** False: it has ended, or the time is over. */
async function becomesReady(program: SpawnedPawl, door: Door): Promise<boolean> {
  const until = performance.now() + START_MS;
  const left = () => Math.max(1, until - performance.now());
  if (door === "run") {
    await program.until((said) => /^run \S+ of /m.test(said), left());
    return /^run \S+ of /m.test(program.said);
  }
  if (door === "detach") {
    await program.until(() => false, left());
    return program.child.exitCode === 0;
  }
  if (door === "mcp") return answersMcp(program, RUN_WORKFLOW, left);
  if (door === "mcp terminal") return answersMcp(program, { name: "list_runs", arguments: {} }, left);
  await program.until((said) => said.includes("listens on"), left());
  const [, url] = /listens on (\S+)/.exec(program.said) ?? [];
  while (!program.hasEnded && performance.now() < until) {
    if (url !== undefined && (await isReady(url))) return true;
    await wait(LOOK_MS);
  }
  return false;
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/ready`, { signal: AbortSignal.timeout(5_000) })).status === 200;
  } catch {
    return false;
  }
}

/** It says who it is, and answers a call, if only that it cannot. */
async function answersMcp(program: SpawnedPawl, call: object, left: () => number): Promise<boolean> {
  const client = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "starts", version: "1" } };
  const ask = (id: number, method: string, params: object) =>
    program.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
  ask(1, "initialize", client);
  await program.until((said) => said.includes('"id":1'), left());
  program.send(JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }));
  ask(2, "tools/call", call);
  await program.until((said) => said.includes('"id":2'), left());
  return program.said.includes('"id":2');
}

function judge(program: SpawnedPawl, isReady: boolean): Pick<Started, "state" | "trouble"> {
  const { said, child, hasEnded } = program;
  const tail = said.slice(-1_500);
  if (/a defect|unhandled|at file:\/\//i.test(said)) return { state: "a defect", trouble: tail };
  if (isReady) return { state: "ready", trouble: undefined };
  if (!hasEnded) return { state: "neither", trouble: `neither ready nor ended: ${tail}` };
  const [, code] = /\berror ([A-Z][A-Z_]+)\b/.exec(said) ?? [];
  const hasCode = code !== undefined && child.exitCode !== null && child.exitCode > 0;
  return {
    state: code ?? "no code",
    trouble: hasCode ? undefined : `ended with ${child.exitCode ?? child.signalCode}: ${tail}`,
  };
}
