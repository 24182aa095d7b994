import type { RunStreamEvent } from "pawl/client";

/** What an agent says and does, which is recorded only when its attempt has ended. */
export interface LiveText {
  readonly attempt: number;
  /** Whole messages, calls of tools and their results, the last ones where there are many. */
  readonly events: readonly unknown[];
  /** What it is saying, as it comes: the end of it, where it is long. */
  readonly text: string;
  /** What it waits for, or the tool that it calls; undefined while it speaks. */
  readonly doing: string | undefined;
}

const MAX_EVENTS = 200;
const MAX_KEPT = 100_000;

/** The words of agents as they come, by the path of the step. */
export class LiveTexts {
  readonly #texts = new Map<string, LiveText>();
  readonly #listeners = new Set<() => void>();

  get(path: string): LiveText | undefined {
    return this.#texts.get(path);
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  take(changes: readonly RunStreamEvent[]): void {
    let isNew = false;
    for (const change of changes) {
      if (change.event === "step" && change.data.status !== "running")
        isNew = this.#texts.delete(change.data.path) || isNew;
      if (change.event !== "live" && change.event !== "progress") continue;
      const { path, attempt } = change.data;
      const before = this.#texts.get(path);
      const now = addTo(
        before?.attempt === attempt ? before : { attempt, events: [], text: "", doing: undefined },
        change,
      );
      if (now === before) continue;
      this.#texts.set(path, now);
      isNew = true;
    }
    if (isNew) for (const listener of this.#listeners) listener();
  }
}

/** The events are those of the agent: each shape that is not known says nothing. What comes whole takes the place of its pieces. */
function addTo(
  before: LiveText,
  { event: kind, data: { event } }: Extract<RunStreamEvent, { event: "live" | "progress" }>,
): LiveText {
  if (kind === "progress") {
    return { ...before, events: [...before.events, event].slice(-MAX_EVENTS), text: "", doing: undefined };
  }
  if (typeof event !== "object" || event === null) return before;
  const { type, text, name, waiting } = event as Readonly<Record<string, unknown>>;
  if (type === "text" && typeof text === "string") {
    return { ...before, text: (before.text + text).slice(-MAX_KEPT), doing: undefined };
  }
  if (type === "tool_call" && typeof name === "string") return { ...before, doing: `calls ${name}` };
  if (type === "capacity") return { ...before, doing: "waits for a free place at its server" };
  if (type === "budget" && waiting !== undefined) return { ...before, doing: "waits for money of its budget" };
  return before;
}
