import { setFlagsFromString } from "node:v8";
import { parentPort, workerData } from "node:worker_threads";
import type { Environment } from "minijinja-js";
import type { RenderReply, RenderRequest } from "./render-message.ts";

/** Instructions; a hundred thousand passes through a small loop. It takes a twentieth of a second. */
const FUEL = 1_000_000n;
const MAX_WASM_PAGES = 4_096;
/** They take a missing value for an empty one, where printing it would be an error. */
const LENIENT = [
  "bool capitalize chain e escape float groupby indent int join lower pprint",
  "replace safe string striptags title tojson trim truncate upper",
].flatMap((names) => names.split(" "));

const { maxLength } = workerData as { maxLength: number };

// `{{ "x" * 1000000000 }}` would take gigabytes from the process that drives all runs. The limit holds for memories made
// from now on, anywhere in the process, so the engine is loaded after it.
setFlagsFromString(`--wasm-max-mem-pages=${MAX_WASM_PAGES}`);
const { Environment: Engine } = await import("minijinja-js");

parentPort?.on("message", (request: RenderRequest) => parentPort?.postMessage(answer(request)));

function answer({ template, input }: RenderRequest): RenderReply {
  try {
    const text = withEngine((engine) => engine.renderStr(template, input));
    if (text.length > maxLength) return { type: "tooLarge", length: text.length };
    return { type: "rendered", text, lostIn: usesLenient(template) ? findLost(template, input) : [] };
  } catch (error) {
    // The engine reports faults of a template as plain `Error`s. Any other error is a trap, after which the engine is unusable.
    if (error instanceof Error && error.name === "Error") return { type: "fault", error: error.message };
    return { type: "broken" };
  }
}

function withEngine<Result>(use: (engine: Environment) => Result): Result {
  const engine = new Engine();
  engine.undefinedBehavior = "strict";
  engine.fuel = Number(FUEL);
  // Without it errors do not tell the column.
  engine.debug = true;
  // `.items()`, `.get()` and the like, as in Jinja itself.
  engine.enablePyCompat();
  const result = use(engine);
  engine.free();
  return result;
}

function usesLenient(template: string): boolean {
  return [...template.matchAll(/\|\s*([a-z]+)/g)].some(([, name]) => name !== undefined && LENIENT.includes(name));
}

/** Renders once more, with filters that do little else than note what they are given. What comes out is thrown away. */
function findLost(template: string, input: RenderRequest["input"]): readonly string[] {
  const lost = new Set<string>();
  try {
    withEngine((engine) => {
      for (const name of LENIENT) engine.addFilter(name, (value: unknown) => noteLost(name, value, lost));
      return engine.renderStr(template, input);
    });
  } catch {
    // Without their work the rest may fail; what was noted until then is enough.
  }
  return [...lost];
}

/** Must not throw: the engine would break down. Conditions read the outcome, so that it stays close to the real one. */
function noteLost(name: string, value: unknown, lost: Set<string>): unknown {
  if (value === undefined) {
    lost.add(name);
    return "";
  }
  if (typeof value !== "string") return value;
  if (name === "upper") return value.toUpperCase();
  if (name === "lower") return value.toLowerCase();
  return name === "trim" ? value.trim() : value;
}
