import { type ReactNode, useEffect, useState } from "react";
import { Link } from "wouter";
import { useDo } from "../../data/use-call.ts";
import { Button } from "../../parts/button.tsx";
import { AskFirst } from "../../parts/dialog.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Id, Time } from "../../parts/values.tsx";
import { ViewBar } from "../../parts/view-bar.tsx";
import type { Emulator } from "./emulator.ts";
import { TerminalScreen } from "./terminal-screen.tsx";
import { type Followed, useFollowed } from "./use-followed.ts";
import type { OpenTerminal } from "./use-terminals.ts";
import { useTyping } from "./use-typing.ts";

interface LiveTerminalProps {
  readonly id: string;
  /** Absent: it is not among those that are open, or not yet known. */
  readonly terminal: OpenTerminal | undefined;
}

/** One terminal as it is now, to look at and, where that is allowed, to type into. */
export function LiveTerminal({ id, terminal }: LiveTerminalProps) {
  const [emulator, setEmulator] = useState<Emulator>();
  const followed = useFollowed(id, emulator);
  const { type, error } = useTyping(id);
  const kill = useDo("DELETE /terminals/{id}");
  const [isAsking, setAsking] = useState(false);
  const canType = terminal?.can_type === true && followed.is === "live";
  useEffect(() => {
    emulator?.onType(canType ? (text) => void type(text) : undefined);
    if (canType) emulator?.focus();
  }, [emulator, canType, type]);
  const failure = followed.is === "refused" ? followed.error : (kill.error ?? error);
  return (
    <>
      <ViewBar
        title={
          <>
            <Link href="/terminals" className="text-accent">
              Terminals
            </Link>{" "}
            / <span className="font-mono text-sm">{terminal?.command ?? ""}</span> <Id id={id} />
          </>
        }
        actions={
          followed.is !== "ended" && (
            <Button kind="danger" isBusy={kill.isPending} onClick={() => setAsking(true)}>
              End it
            </Button>
          )
        }
      >
        <Connection followed={followed} />
      </ViewBar>
      {terminal !== undefined && <Facts terminal={terminal} />}
      {failure && (
        <div className="p-2">
          <Problem error={failure}>
            {failure.code === "TERMINAL_NOT_FOUND" && (
              <p className="mt-1">
                If it has ended, what it showed in a run may be among the{" "}
                <Link href="/terminals?tab=recordings" className="text-accent underline">
                  recordings
                </Link>
                .
              </p>
            )}
          </Problem>
        </div>
      )}
      {followed.is !== "refused" && <TerminalScreen label={`The screen of ${id}`} onEmulator={setEmulator} />}
      <p className="border-t border-line bg-surface px-3 py-1 text-xs text-soft">
        {toHint(terminal, followed, canType)}
      </p>
      {isAsking && (
        <AskFirst
          title="End this terminal?"
          yes="End it"
          onClose={() => setAsking(false)}
          onYes={() => {
            setAsking(false);
            kill.mutate({ id });
          }}
        >
          Everything that runs in it is ended too. A run whose step uses it will find it gone.
        </AskFirst>
      )}
    </>
  );
}

function Connection({ followed }: { readonly followed: Followed }) {
  const [tone, words] = toWords(followed);
  return (
    <span role="status" className={`whitespace-nowrap ${tone}`}>
      {words}
    </span>
  );
}

function toWords(followed: Followed): readonly [tone: string, words: string] {
  switch (followed.is) {
    case "connecting":
      return ["text-soft", "connecting …"];
    case "live":
      return ["text-ok", "● live"];
    case "lost":
      return ["text-bad", "○ behind: connecting …"];
    case "refused":
      return ["text-soft", "not shown"];
    case "ended":
      return followed.exitCode === 0
        ? ["text-soft", "■ ended"]
        : ["text-bad", `■ ended${followed.exitCode === null ? "" : ` with ${followed.exitCode}`}`];
  }
}

/** Why typing is off, or how to stop. */
function toHint(terminal: OpenTerminal | undefined, followed: Followed, canType: boolean): ReactNode {
  if (canType) return "What you type goes to the program, Tab too. Ctrl-] leaves the terminal.";
  if (followed.is === "ended") return "Its program has ended: nobody types any more.";
  if (terminal === undefined || terminal.can_type) return "\u00a0";
  return (
    <>
      Looking only. Typing, and ending it, take <code className="font-mono">terminal.web_input: true</code> in pawl.yaml
      and a new start of the server; on its machine <code className="font-mono">pawl terminals attach</code> types too.
    </>
  );
}

function Facts({ terminal }: { readonly terminal: OpenTerminal }) {
  const { columns, rows, title, run_id: run, step_path: step, created_at: since } = terminal;
  return (
    <p className="flex flex-wrap items-center gap-x-3 border-b border-line bg-surface px-3 py-1 text-sm text-soft">
      {title !== "" && (
        <span className="max-w-60 truncate" title={title}>
          {title}
        </span>
      )}
      <span>
        {columns} × {rows}
      </span>
      <span>
        open since <Time at={since} />
      </span>
      {run !== null && (
        <span>
          <Link href={`/runs/${run}`} className="text-accent underline">
            its run
          </Link>
          {step !== null && `, step ${step}`}
        </span>
      )}
    </p>
  );
}
