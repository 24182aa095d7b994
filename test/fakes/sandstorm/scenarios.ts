import type { Json } from "../../../src/core/json.ts";
import { assistant, errorEvent, init, producedFile, result, stderr, toolResult, toolUse } from "./documents.ts";
import { type Move, type Play, type Reply, toJsonReply, toStreamReply } from "./fake-sandstorm.ts";
import { cutAt, type LineEnd, toEvent, toEvents, toPing } from "./framing.ts";
import { toUnprocessable } from "./simulated-play.ts";

/** Servers by name: how real ones answer, how they fail, and what a hostile one might do. */
export const SCENARIOS = {
  // Framing
  crlf: () => stream(conversation(), "\r\n"),
  lf: () => stream(conversation(), "\n"),
  cr: () => stream(conversation(), "\r"),
  "joined documents": () =>
    chunks(
      conversation()
        .map((document) => JSON.stringify(document))
        .join("\n"),
    ),
  "a document over several events": () =>
    chunks(...cutAt(JSON.stringify(result({ result: "one-two-three" })), [1, 20, 70, 71])),
  "pieces and whole documents mixed": () => chunks(...mixedPieces()),
  "stderr between two pieces": () => chunks(...stderrInside()),
  "a piece that looks like a document": () => chunks(...lookalikePieces()),
  "a lost piece": () => chunks(JSON.stringify(assistant("never finished")).slice(0, -10), ...halves(result())),
  "npm notices": () =>
    chunks("npm notice New minor version of npm available!", ...conversation().map(toText), "npm warn deprecated"),
  pings: () => play([toPing(), ...toEvents([init()]), toPing(), toPing(), ...toEvents([result()])].map(send)),
  "bytes one by one": () =>
    play(
      [...Buffer.from(toEvents([assistant("é€𝄞"), result({ result: "é€𝄞" })]).join(""))].map((byte) =>
        send(Buffer.of(byte)),
      ),
    ),
  "no blank line at the end": () => play([send(toEvents([result()]).join("").trimEnd())]),

  // Answers
  "fallback to the last message": () =>
    stream([
      assistant("draft", { id: "m1" }),
      assistant("final", { id: "m2" }),
      assistant("of a sub-agent", { id: "m3", parent: "t-9" }),
      result({ result: undefined }),
    ]),
  "a message in blocks": () =>
    stream([
      assistant("first", { id: "m1" }),
      toolUse("Read", {}),
      assistant("second", { id: "m2" }),
      assistant("third", { id: "m2" }),
      result({ result: "" }),
    ]),
  "fenced json": () => stream([result({ result: '```json\n{"score": 7}\n```' })]),
  "json in prose": () => stream([result({ result: 'Here it is, as asked [1]:\n{"score": 7}\nAnything else?' })]),
  "invalid json for the schema": () => stream([result({ result: '{"score": "high"}' })]),
  "invalid structured output": () => stream([result({ structured_output: { score: "high" } })]),
  "prose instead of json": () => stream([result({ result: "I could not find it." })]),
  empty: () => stream([result({ result: "  \n" })]),
  "files after the result": () =>
    stream([result(), producedFile("report.md", "# Report"), producedFile("../../etc/passwd", "evil")]),
  "too many files": () =>
    stream([result(), ...Array.from({ length: 130 }, (_, index) => producedFile(`f${index}`, "x"))]),
  "silence after the result": () => play([...toEvents([result()]).map(send), { do: "hang" }]),
  "pings for ever after the result": () => toStreamReply(pingsAfter(toEvents([result()]))),
  "a second result": () => stream([result({ result: "first" }), result({ result: "second", is_error: true })]),
  "no cost": () => stream([result({ total_cost_usd: undefined })]),

  // Failures told by the agent
  "error event": () => stream([init(), errorEvent("Sandbox could not start")]),
  "error event, then silence": () =>
    play([...toEvents([errorEvent("Sandbox could not start")]).map(send), { do: "hang" }]),
  "success with is_error": () => stream([result({ is_error: true, result: 'API Error: 403 {"error":"forbidden"}' })]),
  overloaded: () => stream([result({ is_error: true, result: 'API Error: 529 {"type":"overloaded_error"}' })]),
  "rate limited, said in a member": () =>
    stream([result({ is_error: true, result: "API Error", api_error_status: 429 })]),
  error_max_turns: () =>
    stream([
      result({
        subtype: "error_max_turns",
        result: undefined,
        num_turns: 41,
        total_cost_usd: 1.4020935,
        errors: ["Reached maximum number of turns (40)"],
      }),
    ]),
  error_max_budget_usd: () =>
    stream([result({ subtype: "error_max_budget_usd", is_error: true, result: undefined, errors: [] })]),
  error_during_execution: () =>
    stream([result({ subtype: "error_during_execution", is_error: true, result: undefined, errors: ["boom"] })]),

  // Failures of the connection
  "no result": () => stream([init(), assistant("I will now")]),
  "nothing at all": () => stream([]),
  "half a result": () => chunks(JSON.stringify(result()).slice(0, 90)),
  reset: () => play([...toEvents([init()]).map(send), { do: "reset" }]),
  "reset before the head": () => ({ status: 0, headers: {}, moves: [] }),
  "silence before the head": () => new Promise<Reply>(() => {}),
  "reset after the result": () => play([...toEvents([result()]).map(send), { do: "reset" }]),
  idle: () => play([...toEvents([init()]).map(send), { do: "hang" }]),
  "slow but alive": () => toStreamReply(slowly()),

  // Refusals
  "400": () => toJsonReply(400, { detail: "bad model" }),
  "401": () => toJsonReply(401, { detail: "Invalid authentication credentials" }),
  "403 that repeats the header": (request) => toJsonReply(403, { detail: `who is ${request.headers.authorization}?` }),
  "422 that repeats the request": (request) => toUnprocessable(request),
  "422 in plain text": (request) => ({
    status: 422,
    headers: { "content-type": "text/plain" },
    moves: [send(`cannot read ${JSON.stringify(request.body)}`)],
  }),
  "429": () => ({
    ...toJsonReply(429, { detail: "Too many requests" }),
    headers: { "content-type": "application/json", "retry-after": "7" },
  }),
  "500": () => ({ status: 500, headers: { "content-type": "text/plain" }, moves: [send("Internal Server Error")] }),
  "503": () => toJsonReply(503, { detail: "busy" }),
  redirect: () => ({ status: 307, headers: { location: "http://elsewhere.example/query" }, moves: [] }),
  "a web page": () => ({ status: 200, headers: { "content-type": "text/html" }, moves: [send("<html>Log in</html>")] }),
  compressed: () => ({
    ...stream([result()]),
    headers: { "content-type": "text/event-stream", "content-encoding": "gzip" },
  }),

  // Leaks
  "keys in the answer": (request) =>
    stream([
      stderr(leak(request.body)),
      toolResult(leak(request.body)),
      result({ result: `The key is ${leak(request.body)}` }),
      producedFile("env.txt", leak(request.body)),
    ]),
  "keys in an error": (request) => stream([errorEvent(`invalid x-api-key ${leak(request.body)}`)]),
  "keys in noise": (request) => chunks(`export ANTHROPIC_API_KEY=${leak(request.body)}`, JSON.stringify(result())),

  // Hostile servers
  "an endless line": () => toStreamReply(endlessly("data: {", "x".repeat(64 * 1024))),
  "an endless event": () => toStreamReply(endlessly("", `data: ${"x".repeat(64 * 1024)}\n`)),
  "a gigabyte declared": () => ({
    ...stream([result()]),
    headers: { "content-type": "text/event-stream", "content-length": 1_000_000_000 },
  }),
  "a refusal without end": () => ({
    status: 400,
    headers: { "content-type": "text/plain" },
    moves: endlessly("", "no ".repeat(20_000)),
  }),
  "invalid utf-8": () =>
    play([
      send(Buffer.from([0x64, 0x61, 0x74, 0x61, 0x3a, 0xff, 0xfe, 0x0d, 0x0a, 0x0d, 0x0a])),
      ...toEvents([result({ result: "fine" })]).map(send),
    ]),
  "deeply nested": () =>
    chunks(
      `{"type":"user","x":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
      JSON.stringify(result({ result: "fine" })),
    ),
  "a deeply nested answer": () => stream([result({ result: "[".repeat(100_000) + "]".repeat(100_000) })]),
  "a log without end": () =>
    stream([...Array.from({ length: 12_000 }, (_, index) => stderr(`line ${index}`)), result({ result: "fine" })]),
  "a huge document": () => stream([toolResult("y".repeat(200_000)), result({ result: "fine" })]),
} as const satisfies Record<string, Play>;

export type ScenarioName = keyof typeof SCENARIOS;

/** A conversation with everything in it that usually comes. */
export function conversation(): readonly Json[] {
  return [
    init(),
    assistant("Let me look.", { id: "m1" }),
    toolUse("WebSearch", { query: 'who sells "pawls"?', nested: { type: "object", list: [1, 2.5, -3e2, null, true] } }),
    toolResult('{"type": "not a document", "text": "line\\nbreak and \\"quotes\\" and {braces]"}'),
    assistant("Done.", { id: "m2" }),
    result(),
  ];
}

export function stream(documents: readonly Json[], lineEnd?: LineEnd): Reply {
  return play(toEvents(documents, lineEnd).map(send));
}

/** Each text is one chunk of stdout and so one event. */
function chunks(...texts: readonly string[]): Reply {
  return play(texts.map((text) => send(toEvent(text))));
}

function play(moves: readonly Move[]): Reply {
  return toStreamReply(moves);
}

function send(bytes: string | Uint8Array): Move {
  return { do: "send", bytes };
}

function toText(document: Json): string {
  return JSON.stringify(document);
}

function halves(document: Json): readonly string[] {
  const text = JSON.stringify(document);
  return cutAt(text, [Math.floor(text.length / 2)]);
}

function mixedPieces(): readonly string[] {
  const [a, b] = halves(assistant("cut in the middle", { id: "m1" }));
  const [c, d] = halves(result({ result: "mixed" }));
  return [`${JSON.stringify(init())}\n${a}`, `${b}\n${JSON.stringify(stderr("warn"))}\n${c}`, `${d}`];
}

function stderrInside(): readonly string[] {
  const [a = "", b = ""] = halves(result({ result: "whole" }));
  return [a, JSON.stringify(stderr("npm warn")), b];
}

/** The middle piece is a content block: an object with a `type` that could stand alone. */
function lookalikePieces(): readonly string[] {
  const text = JSON.stringify(assistant("looks like one"));
  const block = JSON.stringify({ type: "text", text: "looks like one" });
  const at = text.indexOf(block);
  return [...cutAt(text, [at, at + block.length]), JSON.stringify(result({ result: undefined }))];
}

function leak(body: { readonly [name: string]: Json }): string {
  return `${body["anthropic_api_key"]} and ${body["e2b_api_key"]}`;
}

function* pingsAfter(events: readonly string[]): Generator<Move> {
  yield* events.map(send);
  for (;;) yield* [send(toPing()), { do: "wait", ms: 5 } as const];
}

/** Longer in all than the idle time-out of the test, with a ping in every pause. */
function* slowly(): Generator<Move> {
  for (let n = 0; n < 30; n += 1) yield* [send(toPing()), { do: "wait", ms: 20 } as const];
  yield* toEvents([result()]).map(send);
}

function* endlessly(start: string, part: string): Generator<Move> {
  yield send(start);
  for (;;) yield send(part);
}
