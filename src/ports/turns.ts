import { setImmediate } from "node:timers";

/** Work in memory, and reads of the journal, may go on for this long before requests of others get their turn. */
const MAX_TURN_MS = 4;

/** There is one event loop in a process, and all long work shares its rounds: so this is no state of any part. */
const loop = {
  /** When long work has begun in this round. Undefined: there is none. */
  busySince: undefined as number | undefined,
  waiting: [] as (() => void)[],
};

/**
 * To be called between two parts of work that nothing interrupts: lets others have their turn where all such work together
 * has been long in this round of the event loop. One goes on in each round: a hundred long reads keep a request waiting no
 * longer than one.
 */
export async function passTurn(): Promise<void> {
  if (loop.busySince === undefined) beginRound();
  else if (performance.now() - loop.busySince >= MAX_TURN_MS) {
    await new Promise<void>((resolve) => loop.waiting.push(resolve));
  }
}

function beginRound(): void {
  loop.busySince = performance.now();
  setImmediate(endRound);
}

function endRound(): void {
  const goOn = loop.waiting.shift();
  if (goOn === undefined) {
    loop.busySince = undefined;
    return;
  }
  beginRound();
  goOn();
}
