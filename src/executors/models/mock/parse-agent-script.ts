import { type Document, isNode, LineCounter, parseDocument } from "yaml";
import { ERRORS } from "../../../core/errors/error-table.ts";
import type { Problem, ProblemPlace } from "../../../core/errors/problem.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { AgentScript, ScriptedAct, ScriptedStep, ScriptedTurn } from "./agent-script.ts";

export type ParsedScript =
  | { readonly ok: true; readonly script: AgentScript }
  | { readonly ok: false; readonly problems: readonly Problem[] };

type Path = readonly (string | number)[];
type Report = (path: Path, message: string) => void;

const MAX_ALIASES = 100;
const ACTS = ["reply", "call", "fail", "hang"];
const TURN_KEYS = [
  ...ACTS,
  "say",
  "message",
  "retryable",
  "effect",
  "delay_ms",
  "cost_usd",
  "turns",
  "input_tokens",
  "output_tokens",
];
const CODE = /^[A-Z][A-Z0-9_]*$/;
const NOT_RETRYABLE = new Set(["AGENT_UNAUTHORIZED", "AGENT_REFUSED", "MODEL_UNAUTHORIZED", "MODEL_REFUSED"]);
const WITHOUT_EFFECT = new Set([...NOT_RETRYABLE, "AGENT_UNREACHABLE"]);

/** Reads a script of simulated answers. Reports every problem (`SCRIPT_INVALID`) with its place, and never throws. */
export function parseAgentScript(text: string, file?: string): ParsedScript {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const problems: Problem[] = [];
  const reportAt = (offset: number, message: string) => problems.push(toProblem(message, placeAt(offset, lines, file)));

  for (const error of document.errors) reportAt(error.pos[0], firstLine(error.message));
  if (problems.length > 0) return { ok: false, problems };
  const content = toContent(document);
  if (content === undefined) reportAt(0, "Aliases expand to too much.");
  const script = readScript(content ?? {}, (path, message) => reportAt(offsetOf(document, path), message));
  return problems.length > 0 ? { ok: false, problems } : { ok: true, script };
}

function toContent(document: Document): Json | undefined {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES }) as Json;
  } catch {
    return undefined;
  }
}

function readScript(content: Json, report: Report): AgentScript {
  if (!isJsonObject(content)) report([], "A script is a map with the key `steps`.");
  const script = isJsonObject(content) ? content : {};
  refuseUnknown(script, ["delay_ms", "steps"], [], report);
  const steps = script["steps"] ?? {};
  if (!isJsonObject(steps)) report(["steps"], "`steps` is a map from step ids to what happens.");
  const entries = Object.entries(isJsonObject(steps) ? steps : {});
  return {
    delayMs: readAmount(script, "delay_ms", [], report),
    steps: new Map(entries.map(([name, step]) => [name, readStep(step, ["steps", name], report)])),
  };
}

function readStep(step: Json, path: Path, report: Report): ScriptedStep {
  if (!isJsonObject(step) || step["items"] === undefined) return { attempts: readTurns(step, path, report), items: [] };
  refuseUnknown(step, ["items"], path, report);
  const items = step["items"];
  if (!isList(items)) report([...path, "items"], "`items` is a list: one entry for each item of the fan-out.");
  const entries = isList(items) ? items : [];
  return { attempts: [], items: entries.map((item, index) => readTurns(item, [...path, "items", index], report)) };
}

function readTurns(value: Json, path: Path, report: Report): readonly ScriptedTurn[] {
  if (!isList(value)) return [readTurn(value, path, report)];
  if (value.length === 0) report(path, "An empty list says nothing; leave the step out.");
  return value.map((turn, index) => readTurn(turn, [...path, index], report));
}

function readTurn(value: Json, path: Path, report: Report): ScriptedTurn {
  if (!isJsonObject(value)) report(path, 'An entry is a map, for example `{reply: "text"}`.');
  const turn = isJsonObject(value) ? value : {};
  refuseUnknown(turn, TURN_KEYS, path, report);
  const costUsd = turn["cost_usd"] === null ? null : readAmount(turn, "cost_usd", path, report);
  return {
    does: readAct(turn, path, report),
    delayMs: readAmount(turn, "delay_ms", path, report),
    costMicro: typeof costUsd === "number" ? Math.round(costUsd * 1_000_000) : costUsd,
    turns: readAmount(turn, "turns", path, report),
    tokens: {
      input: readAmount(turn, "input_tokens", path, report),
      output: readAmount(turn, "output_tokens", path, report),
    },
  };
}

function readAct(turn: JsonObject, path: Path, report: Report): ScriptedAct {
  const named = ACTS.filter((act) => Object.hasOwn(turn, act));
  if (named.length > 1) report(path, `Only one of ${named.map((act) => `\`${act}\``).join(", ")} can happen.`);
  if (turn["reply"] !== undefined) return { type: "reply", reply: turn["reply"] };
  if (turn["call"] !== undefined) return readCalls(turn, turn["call"], path, report);
  if (turn["hang"] === true) return { type: "hang" };
  return turn["fail"] === undefined ? { type: "makeUp" } : readFailure(turn, turn["fail"], path, report);
}

function readCalls(turn: JsonObject, call: Json, path: Path, report: Report): ScriptedAct {
  const { say } = turn;
  if (say !== undefined && typeof say !== "string") report([...path, "say"], "`say` is a text.");
  const calls = (isList(call) ? call : [call]).map((entry, index) => {
    const at = [...path, "call", ...(isList(call) ? [index] : [])];
    const { name, input = {} } = isJsonObject(entry) ? entry : {};
    if (isJsonObject(entry)) refuseUnknown(entry, ["name", "input"], at, report);
    if (typeof name !== "string") report(at, "A call is a map such as `{name: forecast, input: {city: Paris}}`.");
    if (!isJsonObject(input)) report([...at, "input"], "`input` is a map of arguments.");
    return { name: String(name), input: isJsonObject(input) ? input : {} };
  });
  return { type: "call", calls, say: typeof say === "string" ? say : "" };
}

function readFailure(turn: JsonObject, code: Json, path: Path, report: Report): ScriptedAct {
  const { message, retryable, effect } = turn;
  if (typeof code !== "string" || !CODE.test(code))
    report([...path, "fail"], "`fail` is an error code such as AGENT_FAILED.");
  if (message !== undefined && typeof message !== "string") report([...path, "message"], "`message` is a text.");
  if (retryable !== undefined && typeof retryable !== "boolean")
    report([...path, "retryable"], "`retryable` is true or false.");
  if (effect !== undefined && !isEffect(effect)) report([...path, "effect"], "`effect` is none, unknown or done.");
  const name = String(code);
  return {
    type: "fail",
    code: name,
    message: typeof message === "string" ? message : `Failed as scripted (${name}).`,
    retryable: typeof retryable === "boolean" ? retryable : !NOT_RETRYABLE.has(name),
    effect: isEffect(effect) ? effect : hasNoEffect(name) ? "none" : "unknown",
  };
}

// Asking a model changes nothing outside.
function hasNoEffect(code: string): boolean {
  return WITHOUT_EFFECT.has(code) || code.startsWith("MODEL_");
}

function isEffect(value: Json | undefined): value is "none" | "unknown" | "done" {
  return value === "none" || value === "unknown" || value === "done";
}

function readAmount(from: JsonObject, key: string, path: Path, report: Report): number | undefined {
  const value = from[key];
  if (value === undefined) return undefined;
  if (typeof value === "number" && value >= 0 && Number.isFinite(value)) return value;
  report([...path, key], `\`${key}\` is a number, 0 or more.`);
  return undefined;
}

function refuseUnknown(map: JsonObject, known: readonly string[], path: Path, report: Report): void {
  for (const key of Object.keys(map)) {
    if (!known.includes(key)) report([...path, key], `\`${key}\` means nothing here. Known: ${known.join(", ")}.`);
  }
}

/** Where the value at a path begins, or the nearest thing around it. */
function offsetOf(document: Document, path: Path): number {
  const node: unknown = document.getIn(path, true);
  if (isNode(node) && node.range) return node.range[0];
  return path.length === 0 ? 0 : offsetOf(document, path.slice(0, -1));
}

function placeAt(offset: number, lines: LineCounter, file: string | undefined): ProblemPlace {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col), ...(file !== undefined && { file }) };
}

function toProblem(message: string, place: ProblemPlace): Problem {
  return { code: "SCRIPT_INVALID", severity: "error", message, remedy: ERRORS.SCRIPT_INVALID.remedy, place };
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? text;
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}
