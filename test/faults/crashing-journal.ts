import type { Append, AppendResult, Journal } from "../../src/ports/journal.ts";
import { journalWith } from "./world.ts";

/** `12:before`: dies instead of the twelfth commit; `12:after`: as soon as it is durable. */
export interface CrashPoint {
  readonly commit: number;
  readonly when: "before" | "after";
}

export function parseCrashPoint(text: string): CrashPoint {
  const [commit = "", when = ""] = text.split(":");
  if (!/^\d+$/.test(commit) || (when !== "before" && when !== "after")) throw new Error(`Not a crash point: ${text}`);
  return { commit: Number(commit), when };
}

/** Kills the process at that point, or does what `die` does: one that never resolves leaves the host behind as it is. */
export function dieAt(
  crash: CrashPoint | undefined,
  die: () => Promise<void> = async () => void process.kill(process.pid, "SIGKILL"),
): Reached {
  return async ({ commit, when }) => {
    if (crash?.commit === commit && crash.when === when) await die();
  };
}

/** Called at every commit, before and after it. */
export type Reached = (point: CrashPoint) => Promise<void>;

/**
 * A journal with one event a commit, counted, that tells of each of them. The host is told of success only when all
 * events of its entry are durable, so that each commit here is a state that a crash can leave.
 */
export function crashingJournal(journal: Journal, reached: Reached): { readonly journal: Journal; commits(): number } {
  let commits = 0;
  const appendOne = async (entry: Append): Promise<AppendResult> => {
    commits += 1;
    const commit = commits;
    await reached({ commit, when: "before" });
    const [result] = await journal.append([entry]);
    await reached({ commit, when: "after" });
    return result ?? { ok: false, reason: "refused", message: "No result." };
  };
  const appendAll = async (entry: Append): Promise<AppendResult> => {
    for (const part of split(entry)) {
      const result = await appendOne(part);
      if (!result.ok) return result;
    }
    return { ok: true };
  };
  const appendAs = async (entries: readonly Append[]) => {
    const results: AppendResult[] = [];
    for (const entry of entries) results.push(await appendAll(entry));
    return results;
  };
  return { journal: journalWith(journal, appendAs), commits: () => commits };
}

/** What a run needs to be read comes first, what its last event decides comes with that. */
function split({ events, create, patch, outbox, pins, ...entry }: Append): readonly Append[] {
  return events.map((event, index) => ({
    ...entry,
    afterSeq: entry.afterSeq + index,
    events: [event],
    ...(index === 0 && create !== undefined ? { create } : {}),
    ...(index === 0 && pins !== undefined ? { pins } : {}),
    ...(index === events.length - 1 && patch !== undefined ? { patch } : {}),
    ...(index === events.length - 1 && outbox !== undefined ? { outbox } : {}),
  }));
}
