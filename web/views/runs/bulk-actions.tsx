import { useQueryClient } from "@tanstack/react-query";
import type { ApiError } from "pawl/client";
import { useState } from "react";
import { readAgain } from "../../data/read-again.ts";
import { useServer } from "../../data/server.tsx";
import { Button } from "../../parts/button.tsx";
import { AskFirst, Dialog } from "../../parts/dialog.tsx";

const WORDS = { cancel: "Cancel", rerun: "Do again" } as const;

interface Refused {
  readonly id: string;
  readonly error: ApiError;
}

/** Cancels all marked runs, or does them again. What was refused is told run by run. */
export function BulkActions({ ids, onDone }: { readonly ids: readonly string[]; readonly onDone: () => void }) {
  const { client } = useServer();
  const queries = useQueryClient();
  const [asked, setAsked] = useState<keyof typeof WORDS>();
  const [done, setDone] = useState<number>();
  const [refused, setRefused] = useState<readonly Refused[]>();
  const doAll = async (what: keyof typeof WORDS) => {
    const refusals: Refused[] = [];
    for (const [index, id] of ids.entries()) {
      setDone(index);
      await client.call(`POST /runs/{id}/${what}`, { id }).catch((error: ApiError) => refusals.push({ id, error }));
    }
    setDone(undefined);
    setAsked(undefined);
    await readAgain(queries);
    if (refusals.length === 0) onDone();
    else setRefused(refusals);
  };
  const count = `${ids.length} ${ids.length === 1 ? "run" : "runs"}`;
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-line bg-accent/8 px-3 py-1.5 text-sm">
      <span>{count} marked</span>
      <Button onClick={() => setAsked("cancel")}>Cancel them</Button>
      <Button onClick={() => setAsked("rerun")}>Do them again</Button>
      <Button kind="quiet" onClick={onDone}>
        Unmark
      </Button>
      {asked !== undefined && (
        <AskFirst
          title={`${WORDS[asked]} ${count}?`}
          yes={done === undefined ? WORDS[asked] : `${done} of ${ids.length}`}
          isBusy={done !== undefined}
          onYes={() => void doAll(asked)}
          onClose={() => setAsked(undefined)}
        >
          {asked === "cancel"
            ? "What is in flight is told to stop. Finished steps stay finished. Runs that have ended are left as they are."
            : "Each starts again from its beginning, as a new run that may cost as much."}
        </AskFirst>
      )}
      {refused !== undefined && (
        <Dialog title={`${refused.length} of ${count} refused`} onClose={onDone}>
          <ul className="grid gap-1">
            {refused.map(({ id, error }) => (
              <li key={id} className="break-words">
                <span className="font-mono text-xs">{id}</span> {error.message}{" "}
                <span className="text-soft">{error.remedy}</span>
              </li>
            ))}
          </ul>
        </Dialog>
      )}
    </div>
  );
}
