import type { ObservedCall, ObservedEvent, ObservedRun, RunObserver } from "../../ports/run-observer.ts";

/** Everybody who observes runs. While there is nobody, `isWanted` is false and nothing is put together for them. */
export class RunObservers implements RunObserver {
  readonly #observers = new Set<RunObserver>();
  readonly #onDefect: (error: unknown) => void;

  constructor(onDefect: (error: unknown) => void) {
    this.#onDefect = onDefect;
  }

  get isWanted(): boolean {
    return this.#observers.size > 0;
  }

  /** The returned function ends it. */
  add(observer: RunObserver): () => void {
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }

  committed(run: ObservedRun, events: readonly ObservedEvent[]): void {
    this.#tell((observer) => observer.committed(run, events));
  }

  called(run: ObservedRun, call: ObservedCall): void {
    this.#tell((observer) => observer.called?.(run, call));
  }

  #tell(tell: (observer: RunObserver) => void): void {
    for (const observer of this.#observers) {
      try {
        tell(observer);
      } catch (error) {
        this.#onDefect(error);
      }
    }
  }
}
