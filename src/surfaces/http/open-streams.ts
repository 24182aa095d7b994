import type { Ports } from "../../operations/application/ports.ts";
import { isOver } from "../../operations/keys/api-keys.ts";
import type { StoredKey } from "../../ports/service/api-keys.ts";

/** The event streams of a server: so many at most, and all of them hear when it stops. */
export class OpenStreams {
  readonly #stop = new AbortController();
  #open = 0;

  get stopping(): AbortSignal {
    return this.#stop.signal;
  }

  get open(): number {
    return this.#open;
  }

  opened(): void {
    this.#open += 1;
  }

  closed(): void {
    this.#open -= 1;
  }

  stop(): void {
    this.#stop.abort();
  }
}

/** How long a stream may outlive its key. */
const LOOK_MS = 1_000;

/** Ends the streams of keys that are revoked, or expire, while they are open: by whatever process, and by whatever protocol. */
export class KeyedStreams {
  readonly #app: Pick<Ports, "service" | "clock">;
  readonly #open = new Map<string, Set<() => void>>();
  #looking: NodeJS.Timeout | undefined;

  constructor(app: Pick<Ports, "service" | "clock">) {
    this.#app = app;
  }

  static isStream({ headers }: Response): boolean {
    return headers.get("content-type")?.startsWith("text/event-stream") === true;
  }

  /** The same answer, as far as its key lasts. */
  bind(answer: Response, { id }: StoredKey): Response {
    if (answer.body === null) return answer;
    const reader = answer.body.getReader();
    // The read that waits then ends like the stream: the client asks again, and is refused.
    const end = () => void reader.cancel().catch(() => undefined);
    this.#add(id, end);
    const body = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            const { done, value } = await reader.read();
            if (!done) return controller.enqueue(value);
            controller.close();
          } catch (error) {
            controller.error(error);
          }
          this.#remove(id, end);
        },
        cancel: async (reason) => {
          this.#remove(id, end);
          await reader.cancel(reason);
        },
      },
      // Nothing is made ahead of who reads.
      { highWaterMark: 0 },
    );
    return new Response(body, answer);
  }

  #add(key: string, end: () => void): void {
    const others = this.#open.get(key);
    if (others === undefined) this.#open.set(key, new Set([end]));
    else others.add(end);
    this.#looking ??= setInterval(() => void this.#look(), LOOK_MS).unref();
  }

  #remove(key: string, end: () => void): void {
    const open = this.#open.get(key);
    open?.delete(end);
    if (open?.size === 0) this.#open.delete(key);
    if (this.#open.size > 0) return;
    clearInterval(this.#looking);
    this.#looking = undefined;
  }

  /** A key that cannot be found opens nothing. */
  async #look(): Promise<void> {
    for (const [id, open] of [...this.#open]) {
      const key = await this.#find(id);
      if (key === undefined || isOver(key, this.#app.clock.now())) for (const end of [...open]) end();
    }
  }

  async #find(id: string): Promise<StoredKey | undefined> {
    try {
      return await (await this.#app.service()).keys.find(id);
    } catch {
      return undefined;
    }
  }
}
