import type { Place } from "../../core/graph/graph.ts";

/** Values may be nested a hundred deep. */
const MAX_FRAMES = 1_000;

/** Where this program's own files are: a folder of sources, or one of bundles. */
const OWN = frames()[0]?.file.replace(/[^/\\]*$/, "") ?? "";

/** The line of a definition that is being read: the nearest one on the stack that is not of this folder. */
export function placeOfCaller(): { readonly place?: Place; readonly words: string } {
  const place = frames().find(({ file }) => !file.startsWith(OWN));
  if (place === undefined) return { words: "" };
  return { place, words: ` at ${place.file}:${place.line}:${place.column}` };
}

/** Where the author's code stands, in the text that runs. */
export interface RawPlace {
  readonly line: number;
  readonly column: number;
  /** Where the callback begins that this program has called. */
  readonly start: { readonly line: number; readonly column: number };
}

/** Undefined: the code that is nearest on the stack does not stand in the file of the callback, or in none. */
export function rawPlaceOfCaller(): RawPlace | undefined {
  const { prepareStackTrace } = Error;
  Error.prepareStackTrace = (_, sites) => sites;
  const sites = stackOf() as unknown as readonly NodeJS.CallSite[];
  Error.prepareStackTrace = prepareStackTrace;
  const fileOf = (site: NodeJS.CallSite | undefined) => site?.getScriptNameOrSourceURL() ?? "";
  const folder = fileOf(sites[0]).replace(/[^/\\]*$/, "");
  const first = sites.findIndex((site) => !fileOf(site).startsWith(folder));
  const around = sites.findIndex((site, index) => index > first && fileOf(site).startsWith(folder));
  const [here, callback] = [sites[first], sites[around - 1]];
  if (here === undefined || callback === undefined || around <= first || fileOf(here) !== fileOf(callback)) return;
  return {
    line: here.getLineNumber() ?? 0,
    column: here.getColumnNumber() ?? 0,
    start: { line: callback.getEnclosingLineNumber() ?? 0, column: callback.getEnclosingColumnNumber() ?? 0 },
  };
}

function stackOf(): string {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = MAX_FRAMES;
  const { stack = "" } = new Error("place");
  Error.stackTraceLimit = stackTraceLimit;
  return stack;
}

/** The stack of the caller, as a loader that has changed the text maps it back. Frames without a file are the engine's own. */
function frames(): (Place & { readonly file: string })[] {
  return stackOf()
    .split("\n")
    .flatMap((line) => {
      // What a loader adds to an address, such as `?t=1`, is none of the file.
      const [, at, row, column] = /(file:\/\/.*?|\/.*?|[A-Za-z]:\\.*?)(?:\?[^:]*)?:(\d+):(\d+)\)?$/.exec(line) ?? [];
      if (at === undefined) return [];
      const file = at.startsWith("file:") ? decodeURIComponent(new URL(at).pathname) : at;
      return [{ file, line: Number(row), column: Number(column) }];
    });
}
