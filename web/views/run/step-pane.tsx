import { useQuery } from "@tanstack/react-query";
import type { ApiError, OutputOf } from "pawl/client";
import { useState, useSyncExternalStore } from "react";
import { Link } from "wouter";
import { useServer } from "../../data/server.tsx";
import { AgentLog } from "../../parts/agent-log.tsx";
import { Button } from "../../parts/button.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Section } from "../../parts/section.tsx";
import { Status } from "../../parts/status.tsx";
import { LongText, ValueView } from "../../parts/value-view.tsx";
import { Cost, Id, Time, toBytesText, toDuration } from "../../parts/values.tsx";
import { FanOutItems } from "./fan-out-items.tsx";
import type { LiveTexts } from "./live-texts.ts";
import type { Run } from "./use-run.ts";

const ROUTE = "GET /runs/{id}/steps/{path}";
type StepDetail = OutputOf<typeof ROUTE>;

interface StepPaneProps {
  readonly run: Run;
  readonly path: string;
  readonly asOf: number | undefined;
  readonly texts: LiveTexts;
  readonly onSelect: (path: string) => void;
  readonly onClose: () => void;
}

/** One step instance: what it was given and gave, its attempts with their errors, and what its agent says, as it comes. */
export function StepPane({ run, path, asOf, texts, onSelect, onClose }: StepPaneProps) {
  const { client } = useServer();
  const [isWhole, setWhole] = useState(false);
  const { data, error } = useQuery<StepDetail, ApiError>({
    // Below the steps of the run: it is read again with them.
    queryKey: ["GET /runs/{id}/steps", run.run_id, "one", path, asOf, isWhole],
    queryFn: () =>
      client.call(ROUTE, { id: run.run_id, path, whole: isWhole, ...(asOf === undefined ? {} : { as_of: asOf }) }),
    placeholderData: (before) => before,
  });
  return (
    <div className="min-h-0 flex-1 overflow-auto p-3" data-step={path}>
      <div className="flex items-center gap-2">
        <h2 className="min-w-0 truncate font-semibold" title={path}>
          {path}
        </h2>
        {data !== undefined && <Status status={data.status} />}
        <Button kind="quiet" className="ml-auto" aria-label="Close the step" onClick={onClose}>
          ✕
        </Button>
      </div>
      {error !== null && data === undefined ? (
        <Problem error={error} />
      ) : data === undefined ? (
        <Loading what="the step" />
      ) : (
        <Detail run={run} step={data} texts={texts} asOf={asOf} onSelect={onSelect} onWhole={() => setWhole(true)} />
      )}
    </div>
  );
}

interface DetailProps {
  readonly run: Run;
  readonly step: StepDetail;
  readonly texts: LiveTexts;
  readonly asOf: number | undefined;
  readonly onSelect: (path: string) => void;
  readonly onWhole: () => void;
}

function Detail({ run, step, texts, asOf, onSelect, onWhole }: DetailProps) {
  const { description, error, input_prompt: prompt, input, items, path, parent, place } = step;
  return (
    <>
      {description !== null && <p className="text-soft">{description}</p>}
      <p className="flex flex-wrap gap-x-3 text-sm text-soft">
        <span>{step.executor ?? step.kind}</span>
        {step.duration_seconds !== null && <span>{toDuration(step.duration_seconds)}</span>}
        <Cost usd={step.cost_usd} atMost={step.cost_usd_at_most} />
        {step.started_at !== null && <Time at={step.started_at} />}
        {place !== null && (
          <Link href={`/workflows/${encodeURIComponent(run.workflow_name)}?line=${place.line}`} className="underline">
            line {place.line}
          </Link>
        )}
        {parent !== null && (
          <button type="button" className="underline" onClick={() => onSelect(parent)}>
            in {parent}
          </button>
        )}
        {step.called !== null && <span>calls {step.called.workflow}</span>}
      </p>
      {items !== null && <FanOutItems runId={run.run_id} path={path} items={items} asOf={asOf} onSelect={onSelect} />}
      {error !== null && (
        <div className="mt-2">
          <Problem error={error} />
        </div>
      )}
      {step.status === "awaiting_approval" && (
        <p className="mt-2 text-wait">
          It asks a person.{" "}
          <Link href="/approvals" className="underline">
            Answer in Approvals
          </Link>
        </p>
      )}
      <Live path={path} texts={texts} />
      <Output step={step} onWhole={onWhole} />
      {prompt !== null && (
        <Section title="Prompt">
          <LongText text={prompt} />
        </Section>
      )}
      {input !== null && (
        <Section title="Input">
          {input === undefined ? (
            <Button onClick={onWhole}>Show all {toBytesText(step.input_bytes ?? 0)}</Button>
          ) : (
            <ValueView value={withoutPrompt(input, prompt)} label="the input" />
          )}
        </Section>
      )}
      {step.missing.length > 0 && (
        <Section title="Missing">
          <p>
            References that led nowhere: <code>{step.missing.join(", ")}</code>
          </p>
        </Section>
      )}
      {step.violations.length > 0 && (
        <Section title="Policies">
          <ul>
            {step.violations.map(({ policy, action, why }) => (
              <li key={`${policy} ${why}`}>
                <span className="font-medium">{policy}</span> ({action}): {why}
              </li>
            ))}
          </ul>
        </Section>
      )}
      {step.attempts.length > 0 && <Attempts attempts={step.attempts} />}
      {Object.keys(step.usage).length > 0 && (
        <Section title="Usage">
          <ValueView value={step.usage} label="the usage" />
        </Section>
      )}
      {step.attempts.length > 0 && items === null && (
        <Log run={run} path={path} attempts={step.attempts.length} status={step.status} />
      )}
    </>
  );
}

/** The prompt stands above it already. */
function withoutPrompt(input: unknown, prompt: string | null): unknown {
  if (typeof input !== "object" || input === null || !("prompt" in input) || input.prompt !== prompt) return input;
  const { prompt: _shown, ...rest } = input;
  return rest;
}

function Output({ step, onWhole }: { readonly step: StepDetail; readonly onWhole: () => void }) {
  if (step.status !== "completed" && step.output_data == null) return null;
  return (
    <Section title="Output">
      {step.output_data === undefined ? (
        <Button onClick={onWhole}>Show all {toBytesText(step.output_bytes ?? 0)}</Button>
      ) : (
        <ValueView value={step.output_data} label="the output" />
      )}
    </Section>
  );
}

function Attempts({ attempts }: { readonly attempts: StepDetail["attempts"] }) {
  return (
    <Section title="Attempts">
      <ol className="grid gap-2">
        {attempts.map(({ attempt, status, queued_at, started_at, ended_at, cost_usd, error, details, reused_from }) => (
          <li key={`${attempt} ${queued_at}`}>
            <div className="flex flex-wrap items-center gap-x-3 text-sm">
              <span className="font-medium">{attempt}</span>
              <Status status={status} />
              <Time at={started_at ?? queued_at} />
              {started_at !== null && ended_at !== null && (
                <span>{toDuration((Date.parse(ended_at) - Date.parse(started_at)) / 1_000)}</span>
              )}
              {started_at !== null && Date.parse(started_at) > Date.parse(queued_at) && (
                <span className="text-soft">
                  after {toDuration((Date.parse(started_at) - Date.parse(queued_at)) / 1_000)} in the queue
                </span>
              )}
              <Cost usd={cost_usd} />
              {reused_from !== undefined && (
                <span className="text-soft">
                  taken over from <Id id={reused_from} />
                </span>
              )}
            </div>
            {error !== null && <Problem error={error} />}
            {details !== undefined && (
              <details>
                <summary className="text-xs text-soft">what its executor said</summary>
                <ValueView value={details} label={`details of attempt ${attempt}`} />
              </details>
            )}
          </li>
        ))}
      </ol>
    </Section>
  );
}

/** What the agent says now. It is recorded when its attempt has ended. */
function Live({ path, texts }: { readonly path: string; readonly texts: LiveTexts }) {
  const live = useSyncExternalStore(texts.subscribe, () => texts.get(path));
  if (live === undefined) return null;
  return (
    <Section title={`Attempt ${live.attempt}, now`}>
      {live.events.length > 0 && <AgentLog events={live.events} />}
      {live.text !== "" && <LongText text={live.text} />}
      {live.doing !== undefined && <p className="text-wait">{live.doing}</p>}
    </Section>
  );
}

interface LogProps {
  readonly run: Run;
  readonly path: string;
  /** The log is read again when there is another attempt or end. */
  readonly attempts: number;
  readonly status: string;
}

/** What the agent of each attempt has said, on demand. */
function Log({ run, path, attempts, status }: LogProps) {
  const { client } = useServer();
  const { data, error } = useQuery<OutputOf<"GET /runs/{id}/logs">, ApiError>({
    queryKey: ["GET /runs/{id}/logs", run.run_id, path, attempts, status],
    queryFn: () => client.call("GET /runs/{id}/logs", { id: run.run_id, step: path, limit: 50 }),
    placeholderData: (before) => before,
  });
  if (error !== null) return <Problem error={error} />;
  const logs = data?.items.filter((log) => log.path === path) ?? [];
  if (logs.length === 0) return null;
  return (
    <Section title="What was said">
      {logs.map(({ seq, attempt, events }) => (
        <details key={seq} open={attempt === logs.at(-1)?.attempt} className="mt-1">
          <summary className="text-sm text-soft">attempt {attempt}</summary>
          <AgentLog events={events} />
        </details>
      ))}
    </Section>
  );
}
