import { useState } from "react";
import { UnifiedDiff } from "../../parts/line-diff.tsx";
import { Section } from "../../parts/section.tsx";
import type { RunComparison } from "./compared-facts.tsx";

const PARTS = [
  ["definition", "Definition"],
  ["input", "Input"],
  ["outputs", "Output"],
] as const;

/** What differs of the runs as a whole, each opened on demand. */
export function Changes({ comparison }: { readonly comparison: RunComparison }) {
  return (
    <Section title="As a whole">
      <ul>
        {PARTS.map(([part, title]) => (
          <li key={part} className="py-0.5">
            {comparison[part].changed ? (
              <OnDemand title={`${title} differs`}>
                <Diff diff={comparison[part].diff} />
              </OnDemand>
            ) : (
              <p className="text-soft">{title} is the same.</p>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}

export function Diff({ diff }: { readonly diff: string | null }) {
  if (diff === null) return <p className="text-soft">Too long, or too different, to show it line by line.</p>;
  return <UnifiedDiff diff={diff} />;
}

interface OnDemandProps {
  readonly title: React.ReactNode;
  readonly children: React.ReactNode;
}

/** What is closed is not drawn: a comparison may hold a thousand differences. */
export function OnDemand({ title, children }: OnDemandProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        aria-expanded={isOpen}
        className="flex w-full min-w-0 gap-1.5 text-left"
        onClick={() => setOpen(!isOpen)}
      >
        <span aria-hidden="true" className="w-3.5 shrink-0 text-xs leading-5 text-soft">
          {isOpen ? "▾" : "▸"}
        </span>
        <span className="min-w-0 flex-1">{title}</span>
      </button>
      {isOpen && <div className="my-1 ml-5">{children}</div>}
    </>
  );
}
