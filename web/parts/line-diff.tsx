import { diffLines } from "diff";
import { useMemo } from "react";

/** Lines around a change that are shown with it. */
const CONTEXT = 3;

/** What two texts have not in common, line by line: marked by sign and colour. */
export function LineDiff({ before, after }: { readonly before: string; readonly after: string }) {
  const parts = useMemo(() => diffLines(before, after, { maxEditLength: 5_000 }), [before, after]);
  if (parts === undefined) return <p className="text-soft">Too much is different to show it line by line.</p>;
  return (
    <Lines
      lines={parts.flatMap(({ value, added, removed }) =>
        toShown(value.replace(/\n$/, "").split("\n"), added ? "+" : removed ? "-" : " "),
      )}
    />
  );
}

/** The same of a unified diff that came from elsewhere. */
export function UnifiedDiff({ diff }: { readonly diff: string }) {
  const lines = useMemo(() => diff.replace(/\n$/, "").split("\n").map(toLine), [diff]);
  return <Lines lines={lines} />;
}

const LOOKS = {
  "+": "bg-ok/12 text-ok",
  "-": "bg-bad/12 text-bad",
  " ": "text-soft",
  "@": "bg-raised text-soft",
} as const;

type Sign = keyof typeof LOOKS;
type Line = readonly [sign: Sign, text: string];

function Lines({ lines }: { readonly lines: readonly Line[] }) {
  return (
    <pre
      role="figure"
      aria-label="Difference"
      tabIndex={0}
      className="max-h-80 overflow-auto rounded border border-line font-mono text-xs"
    >
      {lines.map(([sign, text], index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no ids
        <div key={index} className={`whitespace-pre-wrap break-words px-2 ${LOOKS[sign]}`}>
          {sign === "@" ? text : `${sign} ${text}`}
        </div>
      ))}
    </pre>
  );
}

function toShown(lines: readonly string[], sign: Sign): readonly Line[] {
  const isLong = sign === " " && lines.length > 2 * CONTEXT + 1;
  const all = lines.map((text): Line => [sign, text]);
  if (!isLong) return all;
  return [...all.slice(0, CONTEXT), ["@", `… ${lines.length - 2 * CONTEXT} lines alike …`], ...all.slice(-CONTEXT)];
}

/** `@@ -3,5 +3,6 @@` stands before lines that go on elsewhere; a lone `...` ends what was cut off. */
function toLine(line: string): Line {
  const [, at] = /^@@ -(\d+)/.exec(line) ?? [];
  if (at !== undefined) return ["@", `line ${at}`];
  if (line === "...") return ["@", "… and more, too long to be shown"];
  const sign = line[0];
  return sign === "+" || sign === "-" ? [sign, line.slice(1)] : [" ", line.slice(1)];
}
