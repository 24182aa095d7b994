import type { Event } from "../core/history/events.ts";
import type { Append, AppendResult, Journal, RunNo } from "../ports/journal.ts";

/** A journal with one event a commit, that calls `between` before each but the first of a run: a death can leave each of these states. */
export function oneEventCommits(journal: Journal, between: (run: RunNo, seq: number, event: Event) => void): Journal {
  const last = new Map<RunNo, Event>();

  async function appendOne(part: Append): Promise<AppendResult> {
    const { run, afterSeq, events } = part;
    const before = last.get(run);
    if (before !== undefined) between(run, afterSeq, before);
    const [result = { ok: false, reason: "refused", message: "No result." }] = await journal.append([part]);
    const event = events[0]?.event;
    if (result.ok && event !== undefined) last.set(run, event);
    return result;
  }

  async function appendAll(entry: Append): Promise<AppendResult> {
    for (const part of split(entry)) {
      const result = await appendOne(part);
      if (!result.ok) return result;
    }
    return { ok: true };
  }

  return {
    ...journal,
    async append(entries) {
      const results: AppendResult[] = [];
      for (const entry of entries) results.push(await appendAll(entry));
      return results;
    },
  };
}

/** What a run needs to be read comes first, and what its last event decides comes with that. */
function split(entry: Append): readonly Append[] {
  const { events, create, patch, outbox, pins, ...rest } = entry;
  if (events.length === 0) return [entry];
  return events.map((event, index) => ({
    ...rest,
    afterSeq: entry.afterSeq + index,
    events: [event],
    ...(index === 0 && create !== undefined ? { create } : {}),
    ...(index === 0 && pins !== undefined ? { pins } : {}),
    ...(index === events.length - 1 && patch !== undefined ? { patch } : {}),
    ...(index === events.length - 1 && outbox !== undefined ? { outbox } : {}),
  }));
}
