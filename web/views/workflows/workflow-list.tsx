import { useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { useInAddress } from "../../data/use-address.ts";
import { Button } from "../../parts/button.tsx";
import { TextField } from "../../parts/fields.tsx";
import { useKeys } from "../../parts/keys.ts";
import { Empty, Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { useRowKeys } from "../../parts/row-keys.ts";
import type { FormSchema } from "../../parts/schema-form.tsx";
import { StartRun } from "../../parts/start-run.tsx";
import { ViewBar } from "../../parts/view-bar.tsx";
import { NewWorkflow } from "./new-workflow.tsx";
import { useWorkflows, type WorkflowSummary } from "./use-workflows.ts";
import { toAddress } from "./workflow-address.ts";

/** Every workflow as a card, found by its name, its dialect or what it is for. */
export function WorkflowList() {
  const { data, error } = useWorkflows();
  const [q, setQ] = useInAddress("q");
  const [starting, setStarting] = useState<WorkflowSummary>();
  const [isNew, setNew] = useState(false);
  const [, go] = useLocation();
  const search = useRef<HTMLDivElement>(null);
  const items = (data ?? []).filter((each) => fits(each, q));
  const at = useRowKeys({
    count: items.length,
    onOpen: (index) => {
      const item = items[index];
      if (item !== undefined) go(toAddress(item.name));
    },
  });
  useKeys({
    "/": () => search.current?.querySelector("input")?.focus(),
    n: () => setNew(true),
    r: () => setStarting(items[at]),
  });
  if (error !== null && data === undefined) {
    return (
      <div className="p-4">
        <Problem error={error} />
      </div>
    );
  }
  return (
    <>
      <ViewBar
        title="Workflows"
        actions={
          <Button kind="main" hint="n" onClick={() => setNew(true)}>
            New
          </Button>
        }
      >
        <div ref={search} className="w-full max-w-72">
          <TextField
            label="Search"
            hidesLabel
            type="search"
            placeholder="name, dialect or words"
            value={q}
            onChange={({ target }) => setQ(target.value)}
          />
        </div>
      </ViewBar>
      {data === undefined ? (
        <Loading what="the workflows" />
      ) : items.length === 0 ? (
        <Empty title={q === "" ? "There is no workflow yet." : "No workflow fits."}>
          {q === ""
            ? "Make one with New, or put a file into the folder workflows/ of the application."
            : "Search for less."}
        </Empty>
      ) : (
        <ul
          aria-label="Workflows"
          className="grid min-h-0 flex-1 auto-rows-min gap-2 overflow-auto p-3 sm:grid-cols-[repeat(auto-fill,minmax(19rem,1fr))]"
        >
          {items.map((each, index) => (
            <Card
              key={`${each.name}\n${each.file ?? ""}`}
              workflow={each}
              isAt={index === at}
              onStart={() => setStarting(each)}
            />
          ))}
        </ul>
      )}
      {starting && (
        <StartRun
          workflow={starting.name}
          schema={starting.input_schema as FormSchema | null}
          fields={starting.input_fields}
          onClose={() => setStarting(undefined)}
        />
      )}
      {isNew && <NewWorkflow onClose={() => setNew(false)} />}
    </>
  );
}

function fits({ name, dialect, description, file }: WorkflowSummary, q: string): boolean {
  const words = `${name} ${dialect ?? ""} ${description ?? ""} ${file ?? ""}`.toLowerCase();
  return q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => words.includes(word));
}

interface CardProps {
  readonly workflow: WorkflowSummary;
  readonly isAt: boolean;
  readonly onStart: () => void;
}

function Card({ workflow, isAt, onStart }: CardProps) {
  const { name, dialect, description, valid, problems, source, file, version } = workflow;
  const from = source === "file" ? file : source === "saved" ? `saved, version ${version ?? 1}` : source;
  return (
    <li
      className={`flex min-w-0 flex-col rounded-md border bg-surface px-3 py-2 ${isAt ? "border-accent" : "border-line"}`}
    >
      <div className="flex items-start gap-2">
        <Link href={toAddress(name)} title={name} className="min-w-0 flex-1 truncate font-semibold hover:underline">
          {name}
        </Link>
        <span className="shrink-0 rounded bg-raised px-1.5 text-xs text-soft">{dialect ?? "?"}</span>
      </div>
      <p className="mt-0.5 line-clamp-2 flex-1 break-words text-soft" title={description ?? ""}>
        {description ?? "–"}
      </p>
      <div className="mt-2 flex items-center gap-2 text-xs">
        <span className="min-w-0 flex-1 truncate text-soft" title={from ?? ""}>
          {from}
        </span>
        {!valid ? (
          <span className="text-bad">
            <span aria-hidden="true">✕ </span>not valid
          </span>
        ) : problems.length > 0 ? (
          <span className="text-warn">
            <span aria-hidden="true">▲ </span>
            {problems.length === 1 ? "1 warning" : `${problems.length} warnings`}
          </span>
        ) : null}
        <Button disabled={!valid} aria-label={`Start ${name}`} onClick={onStart}>
          Start
        </Button>
      </div>
    </li>
  );
}
