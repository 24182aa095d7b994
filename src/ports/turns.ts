import { AsyncLocalStorage } from "node:async_hooks";
import { nextTick } from "node:process";
import { setImmediate } from "node:timers";

/** Work in memory, and reads of the journal, may go on for this long before requests of others get their turn. */
const MAX_TURN_MS = 4;

/** There is one event loop in a process, and all long work shares its rounds: so this is no state of any part. */
const loop = {
  /** When long work has begun in this round. Undefined: there is none. */
  busySince: undefined as number | undefined,
  /** By tenant, the one whose turn is next first. */
  waiting: new Map<string, (() => void)[]>(),
};

/** Work that a request causes is its tenant's, which is known only when its key has been read. */
export interface WorkingRequest {
  readonly tenant: string | undefined;
}

const working = new AsyncLocalStorage<WorkingRequest>();

export function inTurnsOf<Result>(request: WorkingRequest, perform: () => Result): Result {
  return working.run(request, perform);
}

/**
 * To be called between two parts of work that nothing interrupts: lets others have their turn where all such work together
 * has been long in this round of the event loop. Those that wait go on in the next ones, and tenants take turns: a hundred long reads
 * keep a request waiting no longer than one, and the requests of a tenant wait for each other. `tenant`: that of the request, if it
 * is not given.
 */
export async function passTurn(tenant = working.getStore()?.tenant ?? ""): Promise<void> {
  if (loop.busySince === undefined) beginRound();
  else if (performance.now() - loop.busySince >= MAX_TURN_MS)
    await new Promise<void>((resolve) => {
      const others = loop.waiting.get(tenant);
      if (others === undefined) loop.waiting.set(tenant, [resolve]);
      else others.push(resolve);
    });
}

/** Does one part of work that is long by itself, when its turn has come: of many that are asked for at once too, one after the other. */
export async function inTurn<Result>(
  work: () => Result | Promise<Result>,
  tenant = working.getStore()?.tenant ?? "",
): Promise<Result> {
  const isFree = loop.busySince === undefined || performance.now() - loop.busySince < MAX_TURN_MS;
  const passed = passTurn(tenant);
  if (!isFree) await passed;
  return work();
}

/** It ends behind the next look at the sockets. */
function beginRound(): void {
  loop.busySince = performance.now();
  setImmediate(() => setImmediate(endRound));
}

function endRound(): void {
  if (loop.waiting.size === 0) {
    loop.busySince = undefined;
    return;
  }
  beginRound();
  letNextGoOn();
}

/** One after the other, while the round is young. */
function letNextGoOn(): void {
  const [next] = loop.waiting;
  if (next === undefined || performance.now() - (loop.busySince ?? 0) >= MAX_TURN_MS) return;
  const [tenant, waiting] = next;
  const goOn = waiting.shift();
  loop.waiting.delete(tenant);
  if (waiting.length > 0) loop.waiting.set(tenant, waiting);
  goOn?.();
  // A tick that is asked for by a microtask comes when those before it, with the work, are done.
  queueMicrotask(() => nextTick(letNextGoOn));
}
