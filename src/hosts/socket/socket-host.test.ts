import { once } from "node:events";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Graph } from "../../core/graph/graph.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { RunRecord } from "../../ports/journal.ts";
import type { RunHost, RunNotice, RunStart } from "../run-host.ts";
import { SocketHost } from "./socket-host.ts";
import { SocketServer } from "./socket-server.ts";

const RECORD: RunRecord = {
  id: "r1",
  no: 1,
  workflow: "w",
  dialect: "sandcastle",
  graph: "g",
  definition: "d",
  createdAt: 0,
  status: "running",
  lastSeq: 1,
  parked: false,
  costMicro: 0,
  openApprovals: 0,
};

const GRAPH: Graph = {
  format: 1,
  dialect: "direct",
  name: "w",
  input: { declared: [], defaults: {} },
  flow: { kind: "dag", steps: [] },
  limits: {},
  ending: { deadLetter: false },
  envAllowed: [],
  settings: {},
};

/** An owner of one run: remembers what it is asked, and lets the test speak for the run. */
class OneRun implements RunHost {
  readonly driving = 1;
  readonly asked: unknown[] = [];
  readonly listeners = new Set<(notice: RunNotice) => void>();
  readonly watched = Promise.withResolvers<void>();
  settle = Promise.withResolvers<RunRecord>();

  async recover() {
    return { resumed: 0 };
  }
  async startRun(start: RunStart) {
    this.asked.push(start);
    return RECORD;
  }
  async resumeRun(runId: string) {
    this.asked.push(runId);
    return RECORD;
  }
  async cancelRun(): Promise<RunRecord> {
    throw new PawlError("RUN_FINISHED", { message: "It has ended.", details: { status: "completed" } });
  }
  async answerApproval(...answer: unknown[]) {
    this.asked.push(answer);
  }
  async sendSignal(...signal: unknown[]) {
    this.asked.push(signal);
  }
  async deleteRun(runId: string) {
    this.asked.push(["delete", runId]);
  }
  watch(_runId: string, listen: (notice: RunNotice) => void) {
    this.listeners.add(listen);
    this.watched.resolve();
    return () => this.listeners.delete(listen);
  }
  settled() {
    return this.settle.promise;
  }
  async park() {}
}

async function listen() {
  const folder = mkdtempSync(join(tmpdir(), "pawl-socket-"));
  const path = join(folder, "owner.sock");
  const owner = new OneRun();
  const calls: TerminalCall[] = [];
  const server = await SocketServer.listen({
    path,
    host: owner,
    compile: async (text, source) => ({ text, graph: GRAPH, source }),
    callTerminal: (tool, request, signal) =>
      new Promise((resolve, reject) => calls.push({ tool, request, signal, resolve, reject })),
    terminals: () => Promise.reject(new Error("Nobody looks at terminals here.")),
  });
  onTestFinished(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });
  return { path, owner, server, calls };
}

interface TerminalCall {
  readonly tool: string;
  readonly request: JsonObject;
  readonly signal: AbortSignal;
  resolve(result: Json): void;
  reject(error: Error): void;
}

async function connectTo(path: string): Promise<SocketHost> {
  const host = await SocketHost.connect(path);
  onTestFinished(() => host.park());
  return host;
}

test("nobody but the user may open the socket", async () => {
  const { path } = await listen();
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a start carries the text, and the owner compiles it itself", async () => {
  const { path, owner } = await listen();
  const host = await connectTo(path);
  const definition = { text: "the text", source: "w.yaml", graph: { ...GRAPH, name: "not trusted" } };

  const lineage = { kind: "rerun", run: "r0", fromPath: "a[1]" } as const;
  const start = { runId: "r1", definition, input: { a: 1 }, options: { agent: "simulated" } };
  expect(await host.startRun({ ...start, parentRunId: "r0", lineage })).toEqual(RECORD);
  expect(owner.asked).toEqual([
    {
      runId: "r1",
      definition: { text: "the text", source: "w.yaml", graph: GRAPH },
      input: { a: 1 },
      options: { agent: "simulated" },
      parentRunId: "r0",
      lineage,
    },
  ]);
});

test("answers and signals arrive as they were sent", async () => {
  const { path, owner } = await listen();
  const host = await connectTo(path);
  await host.answerApproval("r1", "look", { answer: "approve", by: "me", edited: [1] });
  await host.sendSignal("r1", "done", { ok: true });

  expect(owner.asked).toEqual([
    ["r1", "look", { answer: "approve", by: "me", edited: [1] }],
    ["r1", "done", { ok: true }],
  ]);
});

test("an error of the owner is the caller's, with its code, remedy and details", async () => {
  const { path } = await listen();
  const host = await connectTo(path);
  await expect(host.cancelRun("r1", {})).rejects.toMatchObject({
    code: "RUN_FINISHED",
    message: "It has ended.",
    details: { status: "completed" },
  });
});

test("notices of a watched run reach the caller", async () => {
  const { path, owner } = await listen();
  const host = await connectTo(path);
  const first = new Promise((resolve) => host.watch("r1", resolve));
  await owner.watched.promise;
  for (const tell of owner.listeners) tell({ type: "parked" });

  expect(await first).toEqual({ type: "parked" });
});

test("a caller that goes away is not told anything any more", async () => {
  const { path, owner, server } = await listen();
  const host = await connectTo(path);
  host.watch("r1", () => undefined);
  await owner.watched.promise;
  await host.park();
  while (server.callers > 0) await new Promise(setImmediate);

  expect(owner.listeners.size).toBe(0);
});

test("when the owner goes, what is pending rejects with OWNER_GONE, and so does what comes after", async () => {
  const { path, server } = await listen();
  const host = await connectTo(path);
  const settled = host.settled("r1");
  const rejected = expect(settled).rejects.toMatchObject({ code: "OWNER_GONE" });
  await host.resumeRun("r1");
  await server.close();

  await rejected;
  await expect(host.resumeRun("r1")).rejects.toMatchObject({ code: "OWNER_GONE" });
});

const hostile = [
  "nonsense",
  "{}",
  "null",
  '{"id":1,"method":"park","params":{}}',
  '{"id":1,"method":"__proto__","params":{}}',
  '{"id":1,"method":"startRun","params":{"run_id":"r1"}}',
  '{"id":1,"method":"startRun","params":{"run_id":7,"text":"x","input":[],"options":{}}}',
  '{"id":1,"method":"answerApproval","params":{"run_id":"r1","path":"x","answer":{"answer":"maybe"}}}',
  "\u0000\u0001\u0002",
  "[".repeat(100_000),
];

test.each(hostile)("the owner lives on after %.40j", async (line) => {
  const { path, owner } = await listen();
  const socket = connect(path);
  socket.on("error", () => undefined);
  socket.end(`${line}\n`);
  socket.resume();
  await once(socket, "close");

  const host = await connectTo(path);
  expect(await host.resumeRun("r1")).toEqual(RECORD);
  expect(owner.asked).toEqual(["r1"]);
});

test("a tool of the owner is called, and its answer or error comes back", async () => {
  const { path, calls } = await listen();
  const host = await connectTo(path);
  const never = new AbortController().signal;
  const [given, refused] = ["a", "b"].map((tool) => host.callTerminal(tool, { x: 1 }, never));
  await expect.poll(() => calls.length).toBe(2);
  expect(calls[0]).toMatchObject({ tool: "a", request: { x: 1 } });
  calls[0]?.resolve({ success: true });
  calls[1]?.reject(new PawlError("TERMINAL_REFUSED", { message: "Security violation" }));
  expect(await given).toEqual({ success: true });
  await expect(refused).rejects.toMatchObject({ code: "TERMINAL_REFUSED", message: "Security violation" });
});

test("a call that its caller breaks off, or whose caller goes away, is broken off in the owner", async () => {
  const { path, calls } = await listen();
  const host = await connectTo(path);
  const stop = new AbortController();
  const broken = host.callTerminal("a", {}, stop.signal);
  const left = host.callTerminal("b", {}, new AbortController().signal);
  await expect.poll(() => calls.length).toBe(2);
  stop.abort(new Error("enough"));
  await expect(broken).rejects.toThrow("enough");
  await expect.poll(() => calls[0]?.signal.aborted).toBe(true);
  expect(calls[1]?.signal.aborted).toBe(false);
  await host.park();
  await expect(left).rejects.toMatchObject({ code: "OWNER_GONE" });
  await expect.poll(() => calls[1]?.signal.aborted).toBe(true);
});

test("an owner that is stopped is told from one that works: what it is asked to do at once is not waited for without end", async () => {
  const folder = mkdtempSync(join(tmpdir(), "pawl-silent-"));
  const stopped = createServer();
  stopped.listen(join(folder, "socket"));
  await once(stopped, "listening");
  const host = await SocketHost.connect(join(folder, "socket"), { patienceMs: 50 });
  onTestFinished(async () => {
    await host.park();
    stopped.close();
    rmSync(folder, { recursive: true });
  });
  const settled = host.settled("r1");
  const silent = { code: "OWNER_SILENT", remedy: expect.stringContaining("may still be done") };
  await expect(host.answerApproval("r1", "gate", { answer: "approve" })).rejects.toMatchObject(silent);
  await expect(host.cancelRun("r1", {})).rejects.toMatchObject(silent);
  // A run may take any time.
  await host.park();
  await expect(settled).rejects.toMatchObject({ code: "OWNER_GONE" });
});
