import { type RefObject, useEffect, useState } from "react";
import { useInAddress } from "../../data/use-address.ts";
import { useCall } from "../../data/use-call.ts";
import { Choice, TextField } from "../../parts/fields.tsx";
import { StatusSign, wordsOf } from "../../parts/status.tsx";

const STATUSES = [
  "queued",
  "running",
  "retrying",
  "waiting",
  "awaiting_approval",
  "completed",
  "partial",
  "failed",
  "cancelled",
  "budget_exceeded",
];

/** What is looked for, in the address: text, workflow, time, and statuses with how many runs have each. */
export function RunFilters({ searchRef }: { readonly searchRef: RefObject<HTMLDivElement | null> }) {
  const [status, setStatus] = useInAddress("status");
  const [workflow, setWorkflow] = useInAddress("workflow");
  const [since, setSince] = useInAddress("since");
  const { data: workflows } = useCall("GET /workflows", {});
  const names = [
    ...new Set([...(workflow === "" ? [] : [workflow]), ...(workflows?.items.map(({ name }) => name) ?? [])]),
  ];
  const picked = new Set(status.split(",").filter((each) => each !== ""));
  const toggle = (each: string) => {
    const next = picked.has(each) ? [...picked].filter((other) => other !== each) : [...picked, each];
    setStatus(next.join(","));
  };
  return (
    <>
      <div ref={searchRef} className="w-52">
        <SearchField />
      </div>
      <div className="w-40">
        <Choice
          label="Workflow"
          hidesLabel
          value={workflow}
          choices={[["", "every workflow"], ...names.map((name) => [name, name] as const)]}
          onPick={setWorkflow}
        />
      </div>
      <div className="w-32">
        <Choice
          label="Time"
          hidesLabel
          value={since}
          choices={[
            ["", "any time"],
            ["hour", "the last hour"],
            ["day", "the last day"],
            ["week", "the last week"],
          ]}
          onPick={setSince}
        />
      </div>
      <fieldset className="flex flex-wrap gap-1">
        <legend className="sr-only">Statuses</legend>
        {STATUSES.map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={picked.has(each)}
            title={wordsOf(each)}
            className="inline-flex h-7 items-center gap-1 rounded border border-line px-1.5 text-xs text-soft hover:bg-raised aria-pressed:border-accent aria-pressed:bg-accent/12 aria-pressed:text-ink"
            onClick={() => toggle(each)}
          >
            <StatusSign status={each} size={12} />
            <span className="max-xl:sr-only">{wordsOf(each)}</span>
          </button>
        ))}
      </fieldset>
    </>
  );
}

/** What is typed is asked for when the typing pauses. */
function SearchField() {
  const [q, setQ] = useInAddress("q");
  const [typed, setTyped] = useState(q);
  useEffect(() => setTyped(q), [q]);
  useEffect(() => {
    const timer = setTimeout(() => typed !== q && setQ(typed), 250);
    return () => clearTimeout(timer);
  }, [typed, q, setQ]);
  return (
    <TextField
      label="Search"
      hidesLabel
      type="search"
      placeholder="workflow, id or error  ( / )"
      maxLength={200}
      value={typed}
      onChange={(event) => setTyped(event.target.value)}
    />
  );
}
