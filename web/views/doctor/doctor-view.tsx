import type { OutputOf } from "pawl/client";
import { useState } from "react";
import { useCall } from "../../data/use-call.ts";
import { Button } from "../../parts/button.tsx";
import { useKeys } from "../../parts/keys.ts";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Status } from "../../parts/status.tsx";
import { LongText } from "../../parts/value-view.tsx";
import { Time } from "../../parts/values.tsx";
import { ViewBar } from "../../parts/view-bar.tsx";

type Finding = OutputOf<"GET /doctor">["items"][number];

/** How long MCP servers may take where they are connected: long enough for programs that start, and short enough to wait for. */
const CONNECT_SECONDS = 20;

/** Of more characters than a sentence or two have: what a program has said. */
const LONG = 600;

const ORDER = { failed: 0, warning: 1, ok: 2 } as const;

/** What runs need, looked at: what fails comes first, each with what to do. */
export function DoctorView() {
  const [connects, setConnects] = useState(false);
  const { data, error, isFetching, dataUpdatedAt, refetch } = useCall(
    "GET /doctor",
    connects ? { connect_seconds: CONNECT_SECONDS } : {},
  );
  const check = (withServers: boolean) => (withServers === connects ? void refetch() : setConnects(withServers));
  useKeys({ r: () => check(false) });
  const findings = data?.items.toSorted((a, b) => ORDER[a.state] - ORDER[b.state]);
  return (
    <>
      <ViewBar
        title="Doctor"
        actions={
          <>
            <Button isBusy={isFetching} hint="r" onClick={() => check(false)}>
              Check again
            </Button>
            <Button isBusy={isFetching} title="Starts their programs where they do not run" onClick={() => check(true)}>
              Connect the MCP servers too
            </Button>
          </>
        }
      >
        <span role="status" className="text-soft">
          {isFetching && data !== undefined ? (
            connects ? (
              `connecting the MCP servers, for at most ${CONNECT_SECONDS} s …`
            ) : (
              "checking …"
            )
          ) : findings === undefined ? (
            ""
          ) : (
            <>
              {toSum(findings)}, looked at <Time at={dataUpdatedAt} />
            </>
          )}
        </span>
      </ViewBar>
      {error !== null && (
        <div className="p-4">
          <Problem error={error} />
        </div>
      )}
      {findings === undefined ? (
        error === null && <Loading what="what runs need" />
      ) : (
        <div tabIndex={0} role="group" aria-label="Findings" className="min-h-0 flex-1 overflow-auto">
          <ul className="divide-y divide-line/60 border-b border-line/60">
            {findings.map((finding) => (
              <FindingRow key={`${finding.name} ${finding.message}`} of={finding} />
            ))}
          </ul>
        </div>
      )}
    </>
  );
}

function FindingRow({ of: { name, state, message, remedy } }: { readonly of: Finding }) {
  return (
    <li
      className={`grid items-start grid-cols-[5.5rem_minmax(0,1fr)] gap-x-3 gap-y-0.5 px-3 py-2 lg:grid-cols-[5.5rem_12rem_minmax(0,1fr)] ${state === "failed" ? "bg-bad/8" : ""}`}
    >
      <Status status={state} />
      <span className="min-w-0 break-words font-medium">{name}</span>
      <div className="min-w-0 max-lg:col-start-2">
        {message.length > LONG ? (
          <LongText text={message} />
        ) : (
          <p className="whitespace-pre-wrap break-words">{message}</p>
        )}
        {remedy !== null && <p className="mt-0.5 whitespace-pre-wrap break-words text-soft">{remedy}</p>}
      </div>
    </li>
  );
}

function toSum(findings: readonly Finding[]): string {
  const count = (wanted: Finding["state"]) => findings.filter(({ state }) => state === wanted).length;
  const [failed, warnings] = [count("failed"), count("warning")];
  if (failed === 0 && warnings === 0) return "everything is well";
  return `${failed} failed, ${warnings} ${warnings === 1 ? "warning" : "warnings"}`;
}
