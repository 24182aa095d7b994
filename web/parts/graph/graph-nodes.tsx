import type { Node, NodeProps } from "@xyflow/react";
import { createContext, memo, useContext } from "react";
import { StatusSign, toneOf } from "../status.tsx";
import type { DrawnNode } from "./lay-out.ts";
import type { ShownStep, StepStatus } from "./shown-graph.ts";

interface GraphView {
  readonly statusOf: (key: string) => StepStatus | undefined;
  readonly selected: string | undefined;
  readonly onSelect: (key: string) => void;
  readonly onToggle: (drawn: DrawnNode) => void;
}

/** What changes while a run goes on; the layout does not. */
export const GraphViewContext = createContext<GraphView>({
  statusOf: () => undefined,
  selected: undefined,
  onSelect: () => undefined,
  onToggle: () => undefined,
});

export type GraphNode = Node<{ readonly drawn: DrawnNode }, "drawn">;

const BORDERS = {
  ok: "border-ok/50",
  bad: "border-bad",
  warn: "border-warn",
  wait: "border-wait",
  accent: "border-accent",
  soft: "border-line",
} as const;

export const DrawnNodeView = memo(function DrawnNodeView({ data: { drawn } }: NodeProps<GraphNode>) {
  if (drawn.is === "mark") return <MarkView mark={drawn.mark} />;
  if (drawn.is === "side") return <SideView drawn={drawn} />;
  return <StepView drawn={drawn} />;
});

function StepView({ drawn }: { readonly drawn: Extract<DrawnNode, { is: "step" }> }) {
  const { key, step, opens } = drawn;
  const { statusOf, selected, onSelect, onToggle } = useContext(GraphViewContext);
  const status = statusOf(key);
  const isSelected = selected === key;
  const border = BORDERS[status === undefined ? "soft" : toneOf(status.status)];
  return (
    <div
      className={`h-full w-full overflow-hidden rounded-md border bg-surface ${border} ${isSelected ? "outline-2 outline-accent" : ""} ${opens === "open" ? "bg-surface/60" : "shadow-xs"} ${status?.status === "skipped" ? "opacity-60" : ""}`}
    >
      <div className="flex items-start">
        <button
          type="button"
          tabIndex={-1}
          aria-pressed={isSelected}
          title={[step.id, step.description].filter(Boolean).join("\n")}
          onClick={() => onSelect(key)}
          className="nopan min-w-0 flex-1 px-2 py-1 text-left"
        >
          <span className="flex items-center gap-1.5">
            {status && <StatusSign status={status.status} />}
            <span className="min-w-0 truncate text-sm font-medium leading-5">{step.id}</span>
            {status?.visits !== undefined && status.visits > 1 && (
              <span className="ml-auto text-xs text-soft">{status.visits.toLocaleString()} visits</span>
            )}
          </span>
          <span className="block truncate text-xs leading-4 text-soft">{toKind(step)}</span>
          {step.when !== undefined && (
            <span className="block truncate text-[11px] leading-[17px] text-soft" title={step.when}>
              if {step.when}
            </span>
          )}
          {(step.fan_out !== undefined || step.follows !== undefined) && <Items step={step} status={status} />}
        </button>
        {opens !== "no" && <Toggle isOpen={opens === "open"} what={step.id} onClick={() => onToggle(drawn)} />}
      </div>
    </div>
  );
}

/** The executor says more than that it is a task. */
function toKind({ kind, says, executor, calls, waits, approval }: ShownStep): string {
  if (calls !== undefined) return `calls ${calls.replace(/^"(.*)"$/, "$1")}`;
  if (waits !== undefined) return `waits ${waits}`;
  if (approval !== undefined) return "asks a person";
  return says ?? executor ?? (kind === "flow" ? "steps inside" : kind);
}

/** A fan-out is one node: how many of its items have ended, and how many of them badly. */
function Items({ step, status }: { readonly step: ShownStep; readonly status: StepStatus | undefined }) {
  const items = status?.items;
  if (items === undefined) {
    const words = step.fan_out ? `× each of ${step.fan_out.over}` : `× each item of ${step.follows ?? ""}`;
    return (
      <span className="block truncate text-[11px] leading-[22px] text-soft" title={words}>
        {words}
      </span>
    );
  }
  const { total, byStatus } = items;
  const failed = byStatus["failed"] ?? 0;
  const ended = failed + (byStatus["completed"] ?? 0) + (byStatus["skipped"] ?? 0) + (byStatus["cancelled"] ?? 0);
  const share = (count: number) => `${total === null || total === 0 ? 0 : (100 * count) / total}%`;
  return (
    <span className="block pt-0.5">
      <span className="flex items-center gap-1.5 text-[11px] leading-4 text-soft">
        <span>
          ×{total?.toLocaleString() ?? "?"} · {ended.toLocaleString()} done
        </span>
        {failed > 0 && (
          <span className="ml-auto rounded-full bg-bad px-1.5 font-semibold text-surface">
            {failed.toLocaleString()} failed
          </span>
        )}
      </span>
      <span className="mt-0.5 flex h-1 overflow-hidden rounded-full bg-raised">
        <span className="bg-ok" style={{ width: share(ended - failed) }} />
        <span className="bg-bad" style={{ width: share(failed) }} />
      </span>
    </span>
  );
}

function SideView({ drawn }: { readonly drawn: Extract<DrawnNode, { is: "side" }> }) {
  const { title, opens } = drawn;
  const { onToggle } = useContext(GraphViewContext);
  return (
    <div className="h-full w-full overflow-hidden rounded-md border border-dashed border-line bg-surface/60">
      <div className="flex items-center">
        <span className="min-w-0 flex-1 truncate px-2 text-xs leading-8 text-soft" title={title}>
          {title}
        </span>
        <Toggle isOpen={opens === "open"} what={title} onClick={() => onToggle(drawn)} />
      </div>
    </div>
  );
}

function Toggle({ isOpen, what, onClick }: { isOpen: boolean; what: string; onClick: () => void }) {
  return (
    <button
      type="button"
      tabIndex={-1}
      aria-expanded={isOpen}
      aria-label={`Steps of ${what}`}
      title={isOpen ? "Close" : "Open in place"}
      onClick={onClick}
      className="nopan m-1 size-6 shrink-0 rounded text-soft hover:bg-raised hover:text-ink"
    >
      {isOpen ? "−" : "+"}
    </button>
  );
}

const MARKS = {
  start: ["start", "border-soft bg-raised", ""],
  success: ["ends in success", "border-ok text-ok bg-surface", "✓"],
  failure: ["ends in failure", "border-bad text-bad bg-surface", "✕"],
} as const;

function MarkView({ mark }: { readonly mark: keyof typeof MARKS }) {
  const [words, look, sign] = MARKS[mark];
  return (
    <div
      role="img"
      aria-label={words}
      title={words}
      className={`flex h-full w-full items-center justify-center rounded-full border text-xs font-bold ${look}`}
    >
      {sign}
    </div>
  );
}
