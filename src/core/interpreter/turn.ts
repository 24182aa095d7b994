import { isPawlError } from "../errors/pawl-error.ts";
import type { Command } from "../history/commands.ts";
import type { Instance, ItemRange, RunState, Scope } from "../history/run-state.ts";
import type { Json } from "../json.ts";
import { Queue } from "../queue.ts";

/** One application of one event. */
export interface Turn {
  readonly state: RunState;
  /** Sequence number of the event: the handle of the value that came with it. */
  readonly seq: number;
  readonly commands: Command[];
  /** The work that the event makes ready. A list, never recursion: chains may be as long as a run. */
  readonly work: Queue<Work>;
  /** Scopes whose phase has been set and in which what still lives is to be ended. They go before all other work. */
  readonly closing: Queue<Scope>;
  /** A place or money has become free. Checked last, so that nothing starts in a scope that the event closes. */
  hasRoom: boolean;
  readonly decisions: Decisions;
  /** Items that it has begun, or found to be skipped. */
  begun: number;
  /** It has begun as many as it may. */
  isFull: boolean;
}

export type Work =
  | { readonly type: "openStep"; readonly scope: Scope; readonly step: number }
  | { readonly type: "settleStep"; readonly scope: Scope; readonly step: number }
  | ({ readonly type: "startItems" } & ItemRange)
  | { readonly type: "skipItem"; readonly scope: Scope; readonly step: number; readonly item: number }
  | { readonly type: "visitStep"; readonly scope: Scope; readonly step: number }
  | { readonly type: "endScope"; readonly scope: Scope }
  /** Another attempt, now. */
  | { readonly type: "redispatch"; readonly instance: Instance };

type ExpressionFailure = { readonly code: string; readonly message: string; readonly seq: number };

/** Live, decisions are computed and kept; in a rebuild they are read. */
class Decisions {
  readonly taken: Json[] = [];
  readonly #recorded: readonly Json[] | undefined;

  constructor(recorded: readonly Json[] | undefined) {
    this.#recorded = recorded;
  }

  decide<T extends Json>(compute: () => T): T {
    const index = this.taken.length;
    if (this.#recorded !== undefined && index >= this.#recorded.length)
      throw new Error("The recorded decisions do not fit the graph.");
    const decision = this.#recorded === undefined ? compute() : (this.#recorded[index] as T);
    this.taken.push(decision);
    return decision;
  }

  /**
   * Whether what is left is for another turn. Only that it is so is recorded: a history without it was made in one turn, and
   * one with another length of turns is replayed as it was.
   */
  stop(done: number, most: number): boolean {
    if (this.#recorded === undefined ? done < most : !isStop(this.#recorded[this.taken.length], done)) return false;
    this.taken.push({ stop: done });
    return true;
  }

  /** Of what an expression says. A failure, where it was too costly, is a decision too. */
  evaluate<T extends string | number | boolean | null>(compute: () => T): T | ExpressionFailure {
    return this.decide((): T | ExpressionFailure => {
      try {
        return compute();
      } catch (error) {
        if (!isPawlError(error)) throw error;
        return { code: error.code, message: error.message, seq: 0 };
      }
    });
  }
}

function isStop(decision: Json | undefined, done: number): boolean {
  return typeof decision === "object" && decision !== null && "stop" in decision && decision["stop"] === done;
}

export function newTurn(state: RunState, recorded: readonly Json[] | undefined): Turn {
  return {
    state,
    seq: state.seq,
    commands: [],
    work: new Queue(),
    closing: new Queue(),
    hasRoom: false,
    decisions: new Decisions(recorded),
    begun: 0,
    isFull: false,
  };
}

/** Hands an instance to the host, which has the values that state has not. */
export function beginBinding(
  turn: Turn,
  instance: Instance,
  command: "evaluateStep" | "resolveCall" | "askApproval" | "beginWait",
): void {
  instance.phase = "binding";
  instance.attempt += 1;
  instance.startedAt = turn.state.now;
  turn.commands.push({ type: command, instance, attempt: instance.attempt });
}
