import { useState } from "react";
import { Link } from "wouter";
import { useCall } from "../../data/use-call.ts";
import { Button } from "../../parts/button.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Section } from "../../parts/section.tsx";
import { ValueView } from "../../parts/value-view.tsx";
import { toBytesText } from "../../parts/values.tsx";
import { hasEnded, type Run } from "./use-run.ts";

/** What the run was given, what it gave, and its files. Large values are asked for on demand. */
export function RunPane({ run }: { readonly run: Run }) {
  const [isWhole, setWhole] = useState(false);
  const { data, error } = useCall(
    "GET /runs/{id}",
    { id: run.run_id, steps: false, prompts: false, artifacts: true, whole: isWhole },
    { when: ({ event, data: { run_id } }) => event === "run.finished" && run_id === run.run_id },
  );
  const show = (value: unknown, bytes: number | undefined, label: string) =>
    bytes === undefined ? (
      <ValueView value={value} label={label} />
    ) : (
      <Button onClick={() => setWhole(true)}>Show all {toBytesText(bytes)}</Button>
    );
  return (
    <div className="min-h-0 flex-1 overflow-auto p-3">
      <p className="text-soft">Choose a step on the left to see what it was given and what it gave.</p>
      {error && <Problem error={error} />}
      {data !== undefined && (
        <>
          <Section title="Input">{show(data.input_data, data.input_bytes, "the input")}</Section>
          <Section title="Output">
            {hasEnded(run) ? (
              show(data.outputs, data.outputs_bytes, "the output")
            ) : (
              <p className="text-soft">It has not ended yet.</p>
            )}
          </Section>
          {Object.keys(data.usage).length > 0 && (
            <Section title="Usage">
              <ValueView value={data.usage} label="the usage" />
            </Section>
          )}
          {(data.artifacts?.length ?? 0) > 0 && (
            <Section title="Files">
              <ul>
                {data.artifacts?.map(({ path, bytes }) => (
                  <li key={path} className="break-all font-mono text-xs">
                    {path} <span className="text-soft">{toBytesText(bytes)}</span>
                  </li>
                ))}
              </ul>
            </Section>
          )}
          {data.reruns.length > 0 && (
            <Section title="Done again as">
              <ul>
                {data.reruns.map(({ run_id, kind, from_path, status }) => (
                  <li key={run_id}>
                    <Link href={`/runs/${run_id}`} className="font-mono text-xs underline">
                      {run_id}
                    </Link>{" "}
                    {kind}
                    {from_path !== "" && ` from ${from_path}`}, {status}
                  </li>
                ))}
              </ul>
            </Section>
          )}
        </>
      )}
    </div>
  );
}
