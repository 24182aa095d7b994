import { Link, useLocation } from "wouter";
import { useInAddress } from "../../data/use-address.ts";
import { Button } from "../../parts/button.tsx";
import { Empty, Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { useRowKeys } from "../../parts/row-keys.ts";
import { Rows } from "../../parts/rows.tsx";
import { Id, Time, toBytesText } from "../../parts/values.tsx";
import { toRecordingAddress } from "./recording-address.ts";
import { type Recording, useRecordings } from "./use-terminals.ts";

/** What terminals have shown, kept when they or their runs have ended; `run` in the address leaves those of one. */
export function Recordings() {
  const [run, setRun] = useInAddress("run");
  const { items, error, isPending, more } = useRecordings(run);
  const [, go] = useLocation();
  const at = useRowKeys({
    count: items.length,
    onOpen: (index) => items[index] && go(toRecordingAddress(items[index].path)),
  });
  return (
    <>
      {run !== "" && (
        <p className="flex items-center gap-2 border-b border-line px-3 py-1.5">
          <span>
            Those of the run <Id id={run} />
          </span>
          <Button kind="quiet" onClick={() => setRun("")}>
            of all runs
          </Button>
        </p>
      )}
      {isPending ? (
        <Loading what="the recordings" />
      ) : error !== null && items.length === 0 ? (
        <div className="p-4">
          <Problem error={error} />
        </div>
      ) : items.length === 0 ? (
        <Empty title="Nothing is recorded here.">
          The terminals of a run are recorded, and kept when the run has ended, unless{" "}
          <code className="font-mono text-xs">terminal.record</code> is false. Others are recorded with{" "}
          <code className="font-mono text-xs">terminal.record_sessions: true</code>.
        </Empty>
      ) : (
        <Rows
          label="Recordings"
          items={items}
          at={at}
          onEnd={more}
          keyOf={({ path }) => path}
          row={(recording) => <RecordingRow recording={recording} />}
        />
      )}
    </>
  );
}

function RecordingRow({ recording }: { readonly recording: Recording }) {
  const { path, session_id: session, run_id: run, bytes, modified_at: kept } = recording;
  return (
    <div className="flex flex-wrap items-center gap-x-3 px-3 py-1.5">
      <Link href={toRecordingAddress(path)} className="min-w-0 truncate font-mono text-sm hover:underline" title={path}>
        ▶ {session}
      </Link>
      <span className="min-w-0 flex-1 truncate text-soft">
        {run === null ? (
          "of no run"
        ) : (
          <>
            of{" "}
            <Link href={`/runs/${run}`} className="text-accent underline">
              the run
            </Link>{" "}
            <Id id={run} />
          </>
        )}
      </span>
      <span className="text-soft">{toBytesText(bytes)}</span>
      <span className="w-24 text-right">
        <Time at={kept} />
      </span>
    </div>
  );
}
