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

/** The stack of the caller. Frames without a file are the engine's own. */
function frames(): (Place & { readonly file: string })[] {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = MAX_FRAMES;
  const { stack = "" } = new Error("place");
  Error.stackTraceLimit = stackTraceLimit;
  return stack.split("\n").flatMap((line) => {
    // What a loader adds to an address, such as `?t=1`, is none of the file.
    const [, at, row, column] = /(file:\/\/.*?|\/.*?|[A-Za-z]:\\.*?)(?:\?[^:]*)?:(\d+):(\d+)\)?$/.exec(line) ?? [];
    if (at === undefined) return [];
    const file = at.startsWith("file:") ? decodeURIComponent(new URL(at).pathname) : at;
    return [{ file, line: Number(row), column: Number(column) }];
  });
}
