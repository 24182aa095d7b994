import type { ApiError } from "pawl/client";
import { Link } from "wouter";
import { Empty, Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { useRowKeys } from "../../parts/row-keys.ts";
import { Rows } from "../../parts/rows.tsx";
import { StatusSign } from "../../parts/status.tsx";
import { Id, Time } from "../../parts/values.tsx";
import type { OpenTerminal } from "./use-terminals.ts";

interface OpenTerminalsProps {
  readonly items: readonly OpenTerminal[];
  readonly error: ApiError | null;
  readonly isPending: boolean;
  readonly onOpen: (id: string) => void;
}

/** The open terminals, with whose they are. */
export function OpenTerminals({ items, error, isPending, onOpen }: OpenTerminalsProps) {
  const at = useRowKeys({ count: items.length, onOpen: (index) => items[index] && onOpen(items[index].session_id) });
  if (isPending) return <Loading what="the terminals" />;
  if (error !== null && items.length === 0) {
    return (
      <div className="p-4">
        <Problem error={error} />
      </div>
    );
  }
  if (items.length === 0) {
    return (
      <Empty title="No terminal is open.">
        The steps of terminal workflows open them, and so do programs that use{" "}
        <code className="font-mono text-xs">pawl mcp terminal</code>. Those of runs come here by themselves.
      </Empty>
    );
  }
  return (
    <Rows
      label="Open terminals"
      items={items}
      height={52}
      at={at}
      keyOf={({ session_id }) => session_id}
      row={(terminal) => <TerminalRow terminal={terminal} />}
    />
  );
}

const SIGNS = {
  initializing: "pending",
  active: "running",
  waiting: "waiting",
  error: "failed",
  terminated: "cancelled",
} as const;

const WORDS = {
  initializing: "nothing printed yet",
  active: "open",
  waiting: "somebody waits for its output",
  error: "lost",
  terminated: "ended",
} as const;

function TerminalRow({ terminal }: { readonly terminal: OpenTerminal }) {
  const { session_id: id, command, title, state, columns, rows, run_id: run, step_path: step } = terminal;
  const exit = terminal.exit_code;
  return (
    <div className="grid grid-cols-[auto_minmax(0,1fr)_auto] gap-x-2 px-3 py-1.5">
      <span className="pt-0.5">
        <StatusSign status={SIGNS[state]} />
      </span>
      <Link
        href={`/terminals/${encodeURIComponent(id)}`}
        className="truncate font-medium hover:underline"
        title={`${command} ${title}`}
      >
        <span className="font-mono text-sm">{command}</span> <span className="font-normal text-soft">{title}</span>
      </Link>
      <span className="text-right">
        <Time at={terminal.last_activity} />
      </span>
      <span className="col-start-2 flex min-w-0 flex-wrap gap-x-3 text-soft">
        <Id id={id} />
        <span>
          {WORDS[state]}
          {typeof exit === "number" && ` with ${exit}`}
        </span>
        {run === null ? (
          <span>of no run</span>
        ) : (
          <span className="min-w-0 truncate">
            <Link href={`/runs/${run}`} className="text-accent underline">
              its run
            </Link>
            {step !== null && ` · ${step}`}
          </span>
        )}
      </span>
      <span className="text-right text-soft">
        {columns} × {rows}
      </span>
    </div>
  );
}
