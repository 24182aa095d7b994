import { spawn } from "node:child_process";
import { appendFileSync, existsSync, rmSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import {
  type CallToolResult,
  type InputRequiredResult,
  type ServerContext,
  type Tool,
  UrlElicitationRequiredError,
} from "@modelcontextprotocol/server";

type Arguments = Readonly<Record<string, unknown>>;

interface FaultyTool {
  readonly definition: Omit<Tool, "name">;
  run(args: Arguments, context: ServerContext): Promise<CallToolResult | InputRequiredResult>;
}

const ANY = { type: "object" } as const;
const REPEATABLE = { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false };
const SUM: Tool["inputSchema"] = { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] };
const TWO_NUMBERS: Tool["inputSchema"] = {
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number", default: 1 } },
  required: ["a", "b"],
};

/** Calls that a test can look at later. */
const cancelled: string[] = [];

/** Tools that do what tools should not do. */
export const FAULTY_TOOLS: Readonly<Record<string, FaultyTool>> = {
  echo: {
    definition: { inputSchema: ANY, annotations: REPEATABLE },
    run: async (args, { mcpReq }) => text(JSON.stringify({ args, meta: mcpReq._meta ?? {} })),
  },
  mirror: { definition: { inputSchema: ANY, annotations: REPEATABLE }, run: async (args) => structured(args) },
  /** A number that no double holds. */
  beyond: {
    definition: { inputSchema: ANY },
    run: async () => structured({ x: (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON("1e400") }),
  },
  say: { definition: { inputSchema: ANY }, run: async ({ text: said }) => text(String(said)) },
  add: {
    definition: { inputSchema: TWO_NUMBERS, outputSchema: SUM },
    run: async ({ a, b }) => structured({ sum: Number(a) + Number(b ?? 1) }),
  },
  process: {
    definition: { inputSchema: ANY },
    run: async () =>
      structured({ pid: process.pid, variables: Object.keys(process.env), token: process.env["TOKEN"] ?? "" }),
  },
  helper: { definition: { inputSchema: ANY }, run: async () => structured({ pid: startHelper() }) },
  /** Wants to know something first, and says in the end what it was told. */
  need: { definition: { inputSchema: ANY }, run: need },
  /** Wants to know more, whatever it is told. */
  need_for_ever: {
    definition: { inputSchema: ANY },
    run: async (args) => need(args, undefined),
  },
  book: { definition: { inputSchema: ANY }, run: book },
  /** Does nothing before a page was opened, once or as often as it is told (-32042 of 2025-11-25). */
  pay: { definition: { inputSchema: ANY }, run: pay },
  /** Has a model say something, and tells what it said. With a file at `dies` it dies first, once; with one at `holds` it waits. */
  sum_up: { definition: { inputSchema: ANY }, run: sumUp },
  die: { definition: { inputSchema: ANY }, run: die },
  die_repeatable: { definition: { inputSchema: ANY, annotations: REPEATABLE }, run: die },
  hang: { definition: { inputSchema: ANY }, run: async (_, context) => hang(context) },
  cancelled: { definition: { inputSchema: ANY }, run: async () => structured({ cancelled }) },
  work: { definition: { inputSchema: ANY }, run: work },
  huge: {
    definition: { inputSchema: ANY },
    run: async ({ bytes, of = "x" }) => text(filled(String(of), Number(bytes))),
  },
  nest: { definition: { inputSchema: ANY }, run: nest },
  structured_bytes: {
    definition: { inputSchema: ANY },
    run: async ({ bytes }) => ({ content: [], structuredContent: { x: filled("x", Number(bytes)) } }),
  },
  fail: {
    definition: { inputSchema: ANY },
    run: async () => ({
      isError: true,
      content: [{ type: "text", text: "The disk is on fire." }],
      structuredContent: { shelf: 7 },
    }),
  },
  wrong_structure: {
    definition: { inputSchema: ANY, outputSchema: SUM },
    run: async () => structured({ sum: "many" }),
  },
  no_structure: { definition: { inputSchema: ANY, outputSchema: SUM }, run: async () => text("4") },
  texts: {
    definition: { inputSchema: ANY },
    run: async () => ({ content: [..."abc"].map((letter) => ({ type: "text", text: letter })) }),
  },
  sound: {
    definition: { inputSchema: ANY },
    run: async () => ({
      content: [
        { type: "text", text: "Listen:" },
        { type: "audio", mimeType: "audio/x-wav", data: Buffer.from("beep").toString("base64") },
        { type: "resource", resource: { uri: "file:///a.txt", mimeType: "text/plain", text: "inside" } },
        { type: "resource_link", uri: "https://example.com/b", name: "b" },
      ],
    }),
  },
};

function text(said: string): CallToolResult {
  return { content: [{ type: "text", text: said }] };
}

function filled(part: string, length: number): string {
  return part.repeat(Math.ceil(length / part.length)).slice(0, length);
}

/** Structured content that nests so deep. The SDK cannot write it, so it goes to stdout as it is. */
async function nest({ levels }: Arguments, { mcpReq }: ServerContext): Promise<CallToolResult> {
  const value = `${"[".repeat(Number(levels))}${"]".repeat(Number(levels))}`;
  const id = JSON.stringify(mcpReq.id);
  process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":{"in":${value}}}}\n`);
  return await new Promise<never>(() => undefined);
}

function structured(value: Readonly<Record<string, unknown>>): CallToolResult {
  return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: { ...value } };
}

async function need({ what }: Arguments, context: ServerContext | undefined) {
  const told = context?.mcpReq.inputResponses;
  if (told !== undefined) return text(JSON.stringify(told));
  const asked = NEEDS[String(what)];
  if (asked === undefined) return text("Nothing is needed.");
  return { resultType: "input_required", inputRequests: { it: asked } } as const;
}

const NEEDS: Readonly<Record<string, NonNullable<InputRequiredResult["inputRequests"]>[string]>> = {
  roots: { method: "roots/list" },
  elicitation: {
    method: "elicitation/create",
    params: { message: "Your password?", requestedSchema: { type: "object", properties: { p: { type: "string" } } } },
  },
  sampling: {
    method: "sampling/createMessage",
    params: { messages: [{ role: "user", content: { type: "text", text: "Hi" } }], maxTokens: 10 },
  },
};

/** Books seats, once a person has said how many: a line in `log` for each booking, and for each question. */
async function book({ log, params = SEATS }: Arguments, { mcpReq }: ServerContext) {
  const told = mcpReq.inputResponses?.["seats"] as { action?: string; content?: object } | undefined;
  if (told === undefined) {
    appendFileSync(String(log), "asked\n");
    const inputRequests = { seats: { method: "elicitation/create", params: params as typeof SEATS } } as const;
    return { resultType: "input_required", inputRequests, requestState: "the third attempt" } as const;
  }
  if (told.action !== "accept") return text(JSON.stringify(told));
  appendFileSync(String(log), `booked ${JSON.stringify(told.content)}\n`);
  return text(`Booked ${JSON.stringify(told.content)}, as in ${mcpReq.requestState()}`);
}

const SEATS = {
  message: "How many seats?\u001b[2J",
  requestedSchema: {
    type: "object" as const,
    properties: {
      seats: { type: "integer" as const, minimum: 1 },
      row: { type: "string" as const, default: "front" },
    },
    required: ["seats"],
  },
};

async function sumUp({ asks = [SAMPLE], dies, holds }: Arguments, { mcpReq }: ServerContext) {
  const told = mcpReq.inputResponses;
  if (told === undefined) {
    const toAsked = (params: unknown, index: number) => [`it-${index}`, { method: "sampling/createMessage", params }];
    const inputRequests = Object.fromEntries((asks as unknown[]).map(toAsked)) as InputRequiredResult["inputRequests"];
    return { resultType: "input_required", inputRequests } as const;
  }
  if (typeof dies === "string" && existsSync(dies)) {
    rmSync(dies);
    process.exit(7);
  }
  if (typeof holds === "string" && existsSync(holds)) appendFileSync(holds, "told\n");
  while (typeof holds === "string" && existsSync(holds)) await setTimeout(20);
  return text(JSON.stringify(Object.values(told)));
}

const SAMPLE = { messages: [{ role: "user", content: { type: "text", text: "Sum up." } }], maxTokens: 100 };

const PAGE = { mode: "url", message: "Pay\u001b[2J", url: "https://pay.example/7", elicitationId: "7" } as const;
let paid = 0;

async function pay({ log, times = 1, pages = [PAGE] }: Arguments): Promise<CallToolResult> {
  appendFileSync(String(log), "called\n");
  if (paid >= Number(times)) return text("Paid.");
  paid += 1;
  throw new UrlElicitationRequiredError(pages as ConstructorParameters<typeof UrlElicitationRequiredError>[0]);
}

async function die(): Promise<CallToolResult> {
  process.stderr.write(`I cannot go on, said ${process.env["TOKEN"] ?? "nobody"}.\n`, () => process.exit(7));
  return await new Promise<never>(() => undefined);
}

async function hang({ mcpReq }: ServerContext): Promise<CallToolResult> {
  return await new Promise((resolve) => {
    mcpReq.signal.addEventListener("abort", () => {
      cancelled.push(String(mcpReq.id));
      resolve(text("cancelled"));
    });
  });
}

async function work({ steps, delay_ms: delayMs }: Arguments, { mcpReq }: ServerContext): Promise<CallToolResult> {
  const progressToken = mcpReq._meta?.progressToken;
  for (let step = 1; step <= Number(steps); step += 1) {
    await setTimeout(Number(delayMs));
    if (progressToken === undefined) continue;
    const params = { progressToken, progress: step, total: Number(steps), message: `step ${step}` };
    await mcpReq.notify({ method: "notifications/progress", params });
  }
  // A client may forget who waits for progress as soon as it sees the answer.
  await setTimeout(Number(delayMs));
  return text("done");
}

/** A child that nobody waits for, as `npx` starts one. */
function startHelper(): number {
  const helper = spawn(process.execPath, ["-e", "setInterval(() => undefined, 1000)"], { stdio: "ignore" });
  return helper.pid ?? 0;
}
