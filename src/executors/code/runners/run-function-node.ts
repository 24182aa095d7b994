/**
 * Calls a function of a JavaScript or TypeScript script: `node -e RUNNER SCRIPT FUNCTION`. Standard input has a line with
 * more of its environment and then the input, both as JSON; until it ends nothing of the script runs. Writes `started` and then one JSON document to file descriptor 3, so that what the script prints is
 * never part of the result. A text, as the compiler would not copy a file that it does not compile.
 */
export const NODE_RUNNER = String.raw`
"use strict"; {
const fs = require("node:fs");
const { builtinModules, stripTypeScriptTypes } = require("node:module");
const { pathToFileURL } = require("node:url");

// Node makes these global for what is given on its command line; a script must not come to rely on that.
async function removeExtraGlobals() {
  // The first import brings one of them back.
  await import("node:fs");
  const real = new Set(["console", "crypto", "process"]);
  for (const name of [...builtinModules, "exports", "require", "__filename", "__dirname"]) {
    if (!real.has(name)) delete globalThis[name];
  }
}

// Node loads these when they are first used. A process that stands ready has done so before its call comes.
async function warmUp(script) {
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise((written) => stream.write("", written));
    // As if it were unused: a script that writes to the file descriptor itself finds a pipe that waits for its reader.
    stream._handle?.setBlocking?.(true);
  }
  if (/\.[cm]?ts$/.test(script)) stripTypeScriptTypes?.("export const one = (given: unknown): number => 1;");
}

function send(text) {
  let data = Buffer.from(text);
  while (data.length > 0) {
    try {
      data = data.subarray(fs.writeSync(3, data));
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
}

function describe(error) {
  const isError = error instanceof Error || (typeof error === "object" && error !== null && typeof error.stack === "string");
  return {
    type: isError ? String(error.name) : typeof error,
    ...(isError && typeof error.code === "string" ? { code: error.code } : {}),
    message: (isError ? String(error.message) : String(error)).slice(0, 8000),
  };
}

// The causes of an error, each with its own: a chain may be a circle.
function causesOf(error) {
  const causes = [];
  for (let next = error?.cause; next != null && causes.length < 10 && next !== error; next = next.cause) causes.push(next);
  return causes;
}

function stackOf(error) {
  if (typeof error?.stack !== "string") return "";
  return error.stack.split("\n").filter((line) => !/\[eval\]|node:internal/.test(line)).join("\n");
}

function fail(error) {
  const causes = causesOf(error);
  const cause = causes.reduceRight((inner, each) => ({ ...describe(each), ...(inner && { cause: inner }) }), undefined);
  const traceback = [stackOf(error), ...causes.map((each) => "Caused by: " + (stackOf(each) || describe(each).message))].join("\n");
  send(JSON.stringify({ ok: false, kind: "exception", ...describe(error), ...(cause && { cause }), traceback: traceback.slice(-8000) }));
  process.exit(1);
}

// As in src/core/exact-json.ts: an integer that a number cannot hold comes and goes as a BigInt.
function readInput(text) {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  const exact = (key, value, { source }) =>
    typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? BigInt(source) : value;
  return JSON.parse(text, exact);
}

function findFault(value, path, above) {
  if (typeof value === "bigint") return String(value).replace("-", "").length > 300 ? path + " is an integer of more than 300 digits" : undefined;
  if (typeof value === "number") return Number.isFinite(value) ? undefined : path + " is " + value + ", which JSON does not have";
  if (value === null || typeof value === "string" || typeof value === "boolean") return undefined;
  if (typeof value !== "object") return path + " is " + (value === undefined ? "undefined; return null instead" : "a " + typeof value + ", which JSON does not have");
  if (above.has(value)) return path + " contains itself";
  if (above.size > 900) return path.slice(0, 100) + "... is nested too deeply";
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof SharedArrayBuffer) return path + " is bytes, which JSON does not have";
  if (typeof value.toJSON !== "function" && !isData(value)) return path + " is of the kind " + kindOf(value) + ", which JSON does not have";
  above.add(value);
  const fault = faultInside(value, path, above);
  above.delete(value);
  return fault;
}

// Fields are what JSON has of an instance. What has none, or gives its items one by one, would come as an empty object.
function isData(value) {
  if (Array.isArray(value)) return true;
  if (Symbol.iterator in value || Symbol.asyncIterator in value) return false;
  const above = Object.getPrototypeOf(value);
  if (above === null || Object.getPrototypeOf(above) === null) return true;
  if (value instanceof Error || value instanceof Promise || typeof value.next === "function") return false;
  return Object.keys(value).length > 0;
}

function kindOf(value) {
  const tag = Object.prototype.toString.call(value).slice(8, -1);
  return tag === "Object" ? value.constructor?.name || tag : tag;
}

function faultInside(value, path, above) {
  if (value instanceof Date && Number.isNaN(value.getTime())) return path + " is a Date that is none";
  if (typeof value.toJSON === "function") return findFault(value.toJSON(), path, above);
  const isList = Array.isArray(value);
  for (const key of isList ? value.keys() : Object.keys(value)) {
    // A field that is undefined is a field that is not there.
    if (!isList && value[key] === undefined) continue;
    const fault = findFault(value[key], isList ? path + "[" + key + "]" : path + "." + key, above);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

async function run() {
  const [script, name] = process.argv.slice(1);
  process.argv = [process.argv[0], script];
  process.on("uncaughtException", fail);
  await removeExtraGlobals();
  await warmUp(script);
  Object.defineProperty(BigInt.prototype, "toJSON", {
    value() { return JSON.rawJSON(String(this)); },
    configurable: true,
    writable: true,
  });
  const given = fs.readFileSync(0, "utf8");
  const end = given.indexOf("\n");
  Object.assign(process.env, JSON.parse(given.slice(0, end)));
  const input = readInput(given.slice(end + 1));
  send("started\n");
  const loaded = await import(pathToFileURL(script).href);
  const main = loaded.default;
  const found = name === "default" ? (main?.__esModule ? main.default : main) : loaded[name] ?? main?.[name];
  if (typeof found !== "function") throw new ReferenceError("there is no exported function '" + name + "' in the script");
  const result = await found(input);
  const fault = findFault(result, "the result", new Set());
  const report = fault === undefined ? '{"ok":true,"result":' + JSON.stringify(result) + "}" : JSON.stringify({ ok: false, kind: "invalid", message: fault });
  // Timers and connections that are still open do not keep a call from ending; what was printed still gets out.
  for (const stream of [process.stdout, process.stderr]) await new Promise((written) => stream.write("", written));
  // After the script's own listeners.
  process.on("exit", () => send(report + "\0"));
  process.exit(0);
}

run().catch(fail);
}
`;
