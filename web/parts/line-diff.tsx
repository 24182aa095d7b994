import { diffLines } from "diff";
import { useMemo } from "react";

/** Lines around a change that are shown with it. */
const CONTEXT = 3;

/** What two texts have not in common, line by line: marked by sign and colour. */
export function LineDiff({ before, after }: { readonly before: string; readonly after: string }) {
  const parts = useMemo(() => diffLines(before, after, { maxEditLength: 5_000 }), [before, after]);
  if (parts === undefined) return <p className="text-soft">Too much is different to show it line by line.</p>;
  return (
    <pre
      role="figure"
      aria-label="Difference"
      className="max-h-80 overflow-auto rounded border border-line font-mono text-xs"
    >
      {parts.map(({ value, added, removed }, index) => (
        // The parts of a text have no ids, and are made anew together.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <Part key={index} lines={value.replace(/\n$/, "").split("\n")} sign={added ? "+" : removed ? "-" : " "} />
      ))}
    </pre>
  );
}

const LOOKS = { "+": "bg-ok/12 text-ok", "-": "bg-bad/12 text-bad", " ": "text-soft" } as const;

function Part({ lines, sign }: { readonly lines: readonly string[]; readonly sign: keyof typeof LOOKS }) {
  const isLong = sign === " " && lines.length > 2 * CONTEXT + 1;
  const shown = isLong
    ? [...lines.slice(0, CONTEXT), `… ${lines.length - 2 * CONTEXT} lines alike …`, ...lines.slice(-CONTEXT)]
    : lines;
  return (
    <div className={LOOKS[sign]}>
      {shown.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no ids
        <div key={index} className="whitespace-pre-wrap break-words px-2">
          {sign} {line}
        </div>
      ))}
    </div>
  );
}
