import type { DatabaseState, OpenTransaction } from "../../ports/database-care.ts";

/** From then on a transaction that has not ended is worth a word: it holds `GET /events` up. */
const TELLS_AFTER_MS = 10_000;

/** A state as programs read it. */
export function toShownState({ host, name, version, taken, missing, unknown, drivers, oldest }: DatabaseState) {
  return {
    host,
    name,
    server_version: version,
    steps_taken: [...taken],
    steps_missing: [...missing],
    steps_unknown: [...unknown],
    processes: drivers,
    oldest_transaction: oldest === undefined ? null : toShownTransaction(oldest),
  };
}

type ShownState = ReturnType<typeof toShownState>;
type ShownTransaction = ReturnType<typeof toShownTransaction>;

function toShownTransaction({ pid, program, state, ageMs }: OpenTransaction) {
  return { pid, program, state, age_ms: ageMs };
}

export function isHeldUp(oldest: ShownTransaction | null): oldest is ShownTransaction {
  return (oldest?.age_ms ?? 0) > TELLS_AFTER_MS;
}

export function describeDatabase(state: ShownState): readonly string[] {
  const { host, name, server_version: version, processes, oldest_transaction: oldest } = state;
  return [
    `database     ${host}/${name}`,
    `server       PostgreSQL ${version}`,
    ...toLines("taken", state.steps_taken),
    ...toLines("missing", state.steps_missing),
    ...toLines("newer", state.steps_unknown),
    `processes    ${toProcesses(processes)}`,
    `transaction  ${oldest === null ? "none is open that has written" : describeTransaction(oldest)}`,
  ];
}

function toProcesses(count: number): string {
  return count === 1 ? "1 process drives runs" : `${count} processes drive runs`;
}

function toLines(word: string, steps: readonly string[]): readonly string[] {
  return steps.length === 0 ? [] : [`${word.padEnd(12)} ${steps.join(", ")}`];
}

function describeTransaction({ pid, program, state, age_ms: ageMs }: ShownTransaction): string {
  const age = ageMs === null ? "it is not known since when" : `for ${(ageMs / 1_000).toFixed(1)} s`;
  const what = state === null ? "" : `, ${state}`;
  return `process ${pid} of the server (${program || "no name"}${what}) has written and not ended, ${age}`;
}

/** What a transaction does that has been open for long, and how it is ended. */
export function tellOldest(oldest: ShownTransaction): readonly [string, string] {
  return [
    `${describeTransaction(oldest)}: \`GET /events\` tells nothing newer until then`,
    `End it: SELECT pg_terminate_backend(${oldest.pid});`,
  ];
}

/** The lines of `pawl doctor`. */
export function checkDatabaseState(state: DatabaseState): readonly Finding[] {
  const shown = toShownState(state);
  const { host, name, server_version: version, processes, oldest_transaction: oldest } = shown;
  const findings: Finding[] = [
    { state: "ok", message: `${host}/${name}, PostgreSQL ${version}, ${toProcesses(processes)}` },
  ];
  if (shown.steps_unknown.length > 0) {
    const message = `a newer version has changed its tables: ${shown.steps_unknown.join(", ")}`;
    findings.push({ state: "warning", message, remedy: "Bring this process to that version too." });
  }
  if (isHeldUp(oldest)) {
    const [message, remedy] = tellOldest(oldest);
    findings.push({ state: "warning", message, remedy });
  }
  return findings;
}

interface Finding {
  readonly state: "ok" | "warning";
  readonly message: string;
  readonly remedy?: string;
}
