import { PawlError } from "../../../core/errors/pawl-error.ts";
import { readTemplateFault, type TemplateFault } from "../../../core/errors/template-fault.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { RenderReply, RenderRequest } from "./render-message.ts";

const PATH = /[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[\d+\]|\['[^']*'\]|\["[^"]*"\])*/;
const LENIENT_USE = new RegExp(`(${PATH.source})\\s*\\|\\s*([a-z]+)`, "g");
const MAX_NAMES = 30;
// Searching a line takes time with its square; nobody writes prompts like that.
const LONGEST_LINE = 5_000;

/** The engine's reply as an error with the place and, of a missing value, what there is instead. Undefined: nothing is wrong. */
export function toPromptInvalid(reply: RenderReply, request: RenderRequest): PawlError | undefined {
  if (reply.type === "fault") {
    const fault = readTemplateFault(reply.error);
    const use = fault.reason === "undefined value" ? findUse(request.template, fault) : undefined;
    return use === undefined ? toError(fault, explain(fault.reason)) : toMissing(use, request);
  }
  if (reply.type !== "rendered" || reply.lostIn.length === 0) return undefined;
  const lost = findLostUse(request, reply.lostIn);
  return lost && toMissing(lost, request);
}

/** A path as it stands in the template. */
interface Use {
  readonly path: string;
  readonly line: number;
  readonly column: number;
}

/** Finds the path that the carets point at. They may begin late, and they count code points. */
function findUse(template: string, { line = 1, column = 1, length = 0 }: TemplateFault): Use | undefined {
  const text = template.split("\n")[line - 1] ?? "";
  const end = [...text].slice(0, column - 1 + length).join("").length;
  const found = [...text.slice(0, end).matchAll(new RegExp(PATH, "g"))].at(-1);
  if (found === undefined || found.index + found[0].length !== end) return undefined;
  return { path: found[0], line, column: [...text.slice(0, found.index)].length + 1 };
}

/** Finds a missing value that is given to a filter which would treat it as empty. */
function findLostUse({ template, input }: RenderRequest, filters: readonly string[]): Use | undefined {
  for (const [index, text] of template.split("\n").entries()) {
    if (text.length > LONGEST_LINE) continue;
    for (const { 1: path = "", 2: filter = "", index: at } of text.matchAll(LENIENT_USE)) {
      const isLost = filters.includes(filter) && walk(path, input).missing !== undefined;
      if (isLost) return { path, line: index + 1, column: [...text.slice(0, at)].length + 1 };
    }
  }
  return undefined;
}

function toMissing(use: Use, { template, input }: RenderRequest): PawlError {
  const { missing = use.path, parent, names } = walk(use.path, input);
  const [root = ""] = use.path.match(/^\w+/) ?? [];
  if (isLocal(root, template)) return toError(use, `\`${use.path}\` has no value`, { variable: use.path });
  const shown = names.slice(0, MAX_NAMES).map((name) => `\`${name}\``);
  const there = shown.length === 0 ? "nothing" : `${shown.join(", ")}${names.length > MAX_NAMES ? " ..." : ""}`;
  return toError(use, `\`${missing}\` has no value; ${parent} has ${there}`, {
    variable: missing,
    available: names.slice(0, MAX_NAMES),
  });
}

/** Names that the template makes itself are not in the input. `root` is a plain word. */
function isLocal(root: string, template: string): boolean {
  const ofLoops = `for\\b[^%]{0,200}?\\b${root}\\b[^%]{0,200}?\\bin\\b`;
  const assigned = `(?:set|with|macro|call)\\b[^%=]{0,200}?\\b${root}\\b`;
  return new RegExp(`\\{%[-+]?\\s*(?:${ofLoops}|${assigned})`).test(template);
}

interface Walked {
  /** The part of the path up to what is missing. Undefined: the path leads to a value. */
  readonly missing?: string;
  readonly parent: string;
  readonly names: readonly string[];
}

/** Follows a path through the input as far as it goes. */
function walk(path: string, input: JsonObject): Walked {
  let value: Json = input;
  let parent = "the input";
  let walked = "";
  for (const [part] of path.matchAll(/\.?[A-Za-z_]\w*|\[[^\]]*\]/g)) {
    const key: string = part.replace(/^\.|^\[["']?|["']?\]$/g, "");
    const names = isJsonObject(value) ? Object.keys(value) : [];
    walked += part;
    if (Array.isArray(value) && Number(key) < value.length) value = value[Number(key)] ?? null;
    else if (isJsonObject(value) && Object.hasOwn(value, key)) value = value[key] ?? null;
    else return { missing: walked, parent, names };
    parent = `\`${walked}\``;
  }
  return { parent, names: isJsonObject(value) ? Object.keys(value) : [] };
}

function explain(reason: string): string {
  if (reason.includes("out of fuel")) return "it does more than a prompt may; look for a loop over too much";
  if (reason.startsWith("template not found") || reason.startsWith("tried to include"))
    return "other templates cannot be included, imported or extended";
  return reason;
}

function toError({ line, column }: Partial<TemplateFault>, reason: string, more: JsonObject = {}): PawlError {
  const where = line === undefined ? "" : ` at line ${line}${column === undefined ? "" : `, column ${column}`}`;
  return new PawlError("PROMPT_INVALID", {
    message: `The template cannot be rendered${where}: ${reason}.`,
    details: { ...(line === undefined ? {} : { line }), ...(column === undefined ? {} : { column }), ...more },
  });
}
