/** A screenful of lines that went by at once must not have left the model before it was looked at. */
const MAX_LINES = 1_000;
/** Looking costs something: a program that only redraws one line is looked at as often as there is time. */
const MAX_OVERWRITES = 32;

const OVERWRITE = /(?<=\r)(?![\r\n])/;

/** Cuts output where what it shows would be lost to someone who looks only at its end. */
export function splitForWatching(data: string): string[] {
  const parts = data.split(OVERWRITE, MAX_OVERWRITES + 1);
  const kept = parts.length > MAX_OVERWRITES ? [data] : parts;
  return kept.flatMap(splitManyLines);
}

function splitManyLines(data: string): string[] {
  const pieces: string[] = [];
  let from = 0;
  let lines = 0;
  for (let at = data.indexOf("\n"); at !== -1; at = data.indexOf("\n", at + 1)) {
    lines += 1;
    if (lines % MAX_LINES !== 0) continue;
    pieces.push(data.slice(from, at + 1));
    from = at + 1;
  }
  if (from < data.length || pieces.length === 0) pieces.push(data.slice(from));
  return pieces;
}
