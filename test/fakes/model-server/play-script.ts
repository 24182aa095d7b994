import { z } from "zod";
import type { Play } from "./fake-model-server.ts";
import type { ModelReply, ModelRequest } from "./model-reply.ts";
import { saidIn } from "./shown.ts";

const callSchema = z.strictObject({
  name: z.string(),
  input: z.record(z.string(), z.json()).optional(),
  json: z.string().optional(),
  id: z.string().optional(),
});

/** What a request must have for a turn to answer it. Texts are looked for as parts, whatever the case of their letters. */
const whenSchema = z.strictObject({
  system: z.string().optional(),
  /** In what was said last: the message, or the results of tools. */
  last: z.string().optional(),
  /** Anywhere in the conversation. */
  said: z.string().optional(),
  model: z.string().optional(),
  /** The name of a tool that the model is offered. */
  tool: z.string().optional(),
  /** How many tool results the conversation has. */
  results: z.number().int().optional(),
});

const turnSchema = z.strictObject({
  when: whenSchema.optional(),
  /** How often it may be used. Absent: once, or with `when` as often as it fits. */
  times: z.number().int().positive().optional(),
  say: z.string().optional(),
  call: z.union([callSchema.transform((call) => [call]), z.array(callSchema)]).optional(),
  ended: z.enum(["stop", "tools", "length", "filter", "pause", "full"]).optional(),
  usage: z.strictObject({ input: z.number(), output: z.number(), cached: z.number().optional() }).optional(),
  break: z.strictObject({ after: z.number().int(), how: z.enum(["cut", "end", "garble", "error"]) }).optional(),
  gap_ms: z.number().optional(),
  delay_ms: z.number().optional(),
  /** A status: 429, 529 ... */
  refuse: z.number().int().optional(),
  message: z.string().optional(),
  retry_after: z.union([z.string(), z.number()]).optional(),
  send: z.string().optional(),
  cut: z.literal(true).optional(),
  hang: z.literal(true).optional(),
  leave_ms: z.number().optional(),
});

/** What a model says, turn by turn. */
export const modelScriptSchema = z.strictObject({ turns: z.array(turnSchema).min(1) });

export type ModelScript = z.input<typeof modelScriptSchema>;
type Turn = z.output<typeof turnSchema>;

/** The first turn that fits and is not used up answers. None: a 400 that says what was asked. */
export function playScript(script: ModelScript): Play {
  const turns = modelScriptSchema.parse(script).turns.map((turn) => ({ turn, used: 0 }));
  return (request) => {
    const next = turns.find(({ turn, used }) => used < timesOf(turn) && fits(turn, request));
    if (next === undefined) return { do: "refuse", status: 400, message: noTurnFor(request) };
    next.used += 1;
    return toReply(next.turn);
  };
}

function timesOf({ times, when }: Turn): number {
  return times ?? (when === undefined ? 1 : Number.POSITIVE_INFINITY);
}

function fits({ when }: Turn, { shown, model }: ModelRequest): boolean {
  if (when === undefined) return true;
  const results = shown.messages.flatMap((message) => message.results);
  return (
    holds(shown.system, when.system) &&
    holds(saidLast(shown), when.last) &&
    holds(saidIn(shown).join("\n"), when.said) &&
    holds(model, when.model) &&
    (when.tool === undefined || shown.tools.some(({ name }) => name === when.tool)) &&
    (when.results === undefined || results.length === when.results)
  );
}

function holds(text: string, part: string | undefined): boolean {
  return part === undefined || text.toLowerCase().includes(part.toLowerCase());
}

/** Everything since the model spoke: results of parallel calls may be several messages. */
function saidLast(shown: ModelRequest["shown"]): string {
  const since = shown.messages.findLastIndex(({ by }) => by === "model") + 1;
  return saidIn({ ...shown, messages: shown.messages.slice(since) }).join("\n");
}

function toReply(turn: Turn): ModelReply {
  const act = toAct(turn);
  return turn.delay_ms === undefined ? act : { ...act, delayMs: turn.delay_ms };
}

function toAct(turn: Turn): ModelReply {
  if (turn.refuse !== undefined) {
    const { retry_after: after, message } = turn;
    const headers = after === undefined ? {} : { headers: { "retry-after": String(after) } };
    return { do: "refuse", status: turn.refuse, ...(message === undefined ? {} : { message }), ...headers };
  }
  if (turn.send !== undefined) return { do: "send", body: turn.send };
  if (turn.cut === true) return { do: "cut" };
  if (turn.hang === true) return { do: "hang" };
  if (turn.leave_ms !== undefined) return { do: "leave", ms: turn.leave_ms };
  const said = { text: turn.say, calls: turn.call, ended: turn.ended, usage: turn.usage };
  return { do: "say", ...present({ ...said, gapMs: turn.gap_ms, breaks: turn.break }) } as ModelReply;
}

function present(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function noTurnFor({ shown, model }: ModelRequest): string {
  const tools = shown.tools.map(({ name }) => name).join(", ");
  const asked = JSON.stringify(saidLast(shown).slice(0, 200));
  return `The script has no turn for this request: model ${model}, last said ${asked}, tools [${tools}], system ${JSON.stringify(shown.system.slice(0, 200))}.`;
}
