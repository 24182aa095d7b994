import type { JsonObject } from "../../core/json.ts";

export interface CallProgress {
  readonly done: number;
  readonly total: number;
  readonly message: string;
}

/** Clients give up on calls of which they hear nothing; none is known that does so within 15 s. */
const TELL_EVERY_MS = 10_000;
/** Clients cut longer ones. */
const MAX_MESSAGE = 200;

/** Tells a client how far its call has come, often enough that it goes on waiting. */
export class ProgressTeller {
  readonly #look: () => CallProgress;
  readonly #send: (progress: JsonObject) => void;
  readonly #timer: NodeJS.Timeout;
  #done = -1;
  #again = 0;

  constructor(look: () => CallProgress, send: (progress: JsonObject) => void, everyMs = TELL_EVERY_MS) {
    this.#look = look;
    this.#send = send;
    this.#timer = setInterval(() => this.tell(), everyMs);
  }

  /** The number has to grow each time: between two states it comes closer and closer to the second. */
  tell(): void {
    const { done, total, message } = this.#look();
    if (done > this.#done) this.#again = 0;
    this.#done = Math.max(done, this.#done);
    const progress = Math.min(this.#done + this.#again / (this.#again + 1), total);
    this.#again += 1;
    this.#send({ progress, total, message: message.slice(0, MAX_MESSAGE) });
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
