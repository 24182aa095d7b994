import { Link } from "wouter";
import { type ItemOf, useList } from "../../data/use-list.ts";
import { Button } from "../../parts/button.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Status } from "../../parts/status.tsx";
import { Id, Time } from "../../parts/values.tsx";

type Slot = ItemOf<"GET /schedules/{id}/slots">;

const REASONS: Readonly<Record<string, string>> = {
  missed: "no server ran",
  overlap: "the run of the slot before was under way",
  queue_full: "too many slots wait already",
  disabled: "the schedule was paused",
  definition_removed: "its definition was gone",
  refused: "its run was refused",
};

/** What became of a schedule's slots, newest first: started with which run, or missed and why. */
export function Slots({ id, workflow }: { readonly id: string; readonly workflow: string }) {
  const { items, error, isPending, hasNextPage, isFetching, more } = useList(
    "GET /schedules/{id}/slots",
    { id },
    { when: ({ event, data }) => event === "run.started" && data.workflow_name === workflow },
  );
  return (
    <section aria-labelledby="slots">
      <h3 id="slots" className="mb-1 font-semibold">
        What became of its slots
      </h3>
      {error !== null && <Problem error={error} />}
      {isPending ? (
        <Loading what="the slots" />
      ) : items.length === 0 && error === null ? (
        <p className="text-soft">None of its slots has passed.</p>
      ) : (
        <ul className="divide-y divide-line/60 border-y border-line/60">
          {items.map((slot) => (
            <SlotRow key={`${slot.slot} ${slot.recorded_at} ${slot.state} ${slot.kind}`} slot={slot} />
          ))}
        </ul>
      )}
      {hasNextPage && (
        <Button kind="quiet" isBusy={isFetching} onClick={more}>
          Earlier ones
        </Button>
      )}
    </section>
  );
}

function SlotRow({
  slot: { slot, kind, state, reason, message, run_id: run, last_slot: last, count },
}: {
  readonly slot: Slot;
}) {
  return (
    <li className="grid grid-cols-[6rem_6rem_minmax(0,1fr)] items-start gap-x-2 py-1">
      <Time at={slot} />
      {state === "skipped" && reason === "missed" ? (
        <span className="text-warn">missed</span>
      ) : (
        <Status status={state} />
      )}
      <span className="min-w-0 break-words text-soft">
        {kind === "manual" && "by hand "}
        {kind === "change" && "when it was changed "}
        {last !== null && (
          <>
            {count} slots, until <Time at={last} />{" "}
          </>
        )}
        {reason !== null && (message ?? REASONS[reason] ?? reason)}
        {run !== null && (
          <>
            <Link href={`/runs/${run}`} className="text-accent underline">
              its run
            </Link>{" "}
            <Id id={run} />
          </>
        )}
      </span>
    </li>
  );
}
