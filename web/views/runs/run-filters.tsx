import type { InputOf, OutputOf } from "pawl/client";
import { type RefObject, useEffect, useState } from "react";
import { useInAddress } from "../../data/use-address.ts";
import { useCall } from "../../data/use-call.ts";
import { Choice, TextField } from "../../parts/fields.tsx";
import { StatusSign, wordsOf } from "../../parts/status.tsx";
import { WorkflowChoice } from "../../parts/workflow-choice.tsx";

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

const DIALECTS = ["sandcastle", "uhlp", "terminal", "agents", "typescript"];

const CHIP =
  "inline-flex h-7 items-center gap-1 rounded border border-line px-1.5 text-xs text-soft hover:bg-raised aria-pressed:border-accent aria-pressed:bg-accent/12 aria-pressed:text-ink";

/** What is looked for, in the address: text, workflow, time, and statuses with how many runs have each. */
interface RunFiltersProps {
  readonly searchRef: RefObject<HTMLDivElement | null>;
  /** As asked for, but for its statuses. */
  readonly filter: NonNullable<InputOf<"GET /runs/counts">[0]>;
}

export function RunFilters({ searchRef, filter }: RunFiltersProps) {
  const [status, setStatus] = useInAddress("status");
  const [workflow, setWorkflow] = useInAddress("workflow");
  const [since, setSince] = useInAddress("since");
  const [dialect, setDialect] = useInAddress("dialect");
  const { data: counts } = useCall("GET /runs/counts", filter, { when: () => true });
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
      <WorkflowChoice value={workflow} onPick={setWorkflow} />
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
      <div className="w-32">
        <Choice
          label="Dialect"
          hidesLabel
          value={dialect}
          choices={[["", "every dialect"], ...DIALECTS.map((each) => [each, each] as const)]}
          onPick={setDialect}
        />
      </div>
      <TenantField />
      <fieldset className="flex flex-wrap gap-1">
        <legend className="sr-only">Statuses</legend>
        {STATUSES.map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={picked.has(each)}
            title={wordsOf(each)}
            className={CHIP}
            onClick={() => toggle(each)}
          >
            <StatusSign status={each} size={12} />
            <span className="max-2xl:sr-only">{wordsOf(each)}</span>
            <span className="tabular-nums">{count(counts, each)}</span>
          </button>
        ))}
        {counts && (
          <Only
            name="asking"
            words="asks a person"
            count={counts.asking === counts.by_status.awaiting_approval ? 0 : counts.asking}
            status="awaiting_approval"
          />
        )}
        {counts && <Only name="not_driven" words="not driven" count={counts.not_driven} status="interrupted" />}
      </fieldset>
    </>
  );
}

/** Only where the address names one, or runs of tenants are there to be seen. */
function TenantField() {
  const [tenant, setTenant] = useInAddress("tenant");
  const [isAsked, setAsked] = useState(false);
  if (tenant === "" && !isAsked) {
    return (
      <button type="button" className={CHIP} onClick={() => setAsked(true)}>
        tenant …
      </button>
    );
  }
  return (
    <div className="w-32">
      <TextField
        label="Tenant"
        hidesLabel
        placeholder="tenant"
        defaultValue={tenant}
        onBlur={({ target }) => {
          setTenant(target.value.trim());
          setAsked(false);
        }}
        onKeyDown={(event) => event.key === "Enter" && event.currentTarget.blur()}
      />
    </div>
  );
}

type Counts = OutputOf<"GET /runs/counts">;

function count(counts: Counts | undefined, status: string): string {
  const by: Readonly<Record<string, number | null>> = counts?.by_status ?? {};
  return counts === undefined ? "" : (by[status] ?? 0).toLocaleString();
}

interface OnlyProps {
  readonly name: "asking" | "held" | "not_driven";
  readonly words: string;
  readonly count: number;
  readonly status: string;
}

/** A filter beside the statuses, offered while some run fits it that they do not tell. */
function Only({ name, words, count, status }: OnlyProps) {
  const [value, setValue] = useInAddress(name);
  if (count === 0 && value === "") return null;
  return (
    <button
      type="button"
      aria-pressed={value !== ""}
      className={CHIP}
      onClick={() => setValue(value === "" ? "true" : "")}
    >
      <StatusSign status={status} size={12} />
      {words} {count.toLocaleString()}
    </button>
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
