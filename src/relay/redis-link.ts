import { once } from "node:events";
import { Redis, type RedisOptions } from "ioredis";
import { PawlError } from "../core/errors/pawl-error.ts";

type Listen = (text: string) => void;

/** A server that has not answered in time is left alone for a while: it is not waited for again and again. */
const ANSWER_MS = 250;
const CONNECT_MS = 1_000;
const LEFT_ALONE_MS = 2_000;
const LAST_PAUSE_MS = 1_000;
/** What a slow server has not taken. Beyond it nothing is sent: it would be late anyway. */
const MAX_UNSENT = 8 * 1024 * 1024;

/** Reads `redis.url`. Throws `CONFIG_INVALID`. */
export function readRedisUrl(url: string): string {
  if (/^rediss?:$/.test(URL.parse(url)?.protocol ?? "")) return url;
  throw new PawlError("CONFIG_INVALID", {
    message: "`redis.url` (REDIS_URL) is not the address of a Redis server.",
    remedy:
      "Write it as redis://HOST:6379/0, with user and password as redis://USER:PASSWORD@HOST:6379/0, or rediss:// for TLS.",
  });
}

/** Wakes other processes and tells them what is going on. It keeps nothing, so that a server that is away, or flushed, delays only. */
export class RedisLink {
  readonly #prefix: string;
  readonly #sender: Redis;
  readonly #receiver: Redis;
  readonly #listeners = new Map<string, Set<Listen>>();
  #leftAloneUntil = 0;
  #trouble: string | undefined;

  /** `prefix`: others that use the same server have another one. */
  constructor({ url, prefix }: { readonly url: string; readonly prefix: string }) {
    this.#prefix = prefix;
    const options: RedisOptions = {
      connectionName: "pawl",
      commandTimeout: ANSWER_MS,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      retryStrategy: (times) => Math.min(25 * 2 ** times, LAST_PAUSE_MS),
      protocol: 2,
    };
    this.#sender = new Redis(url, options);
    this.#receiver = new Redis(url, options);
    for (const redis of [this.#sender, this.#receiver])
      redis.on("error", (error: Error) => {
        this.#trouble = error.message;
      });
    this.#sender.on("ready", () => {
      this.#trouble = undefined;
    });
    this.#receiver.on("ready", () => void this.#subscribe([...this.#listeners.keys()]));
    this.#receiver.on("message", (channel: string, text: string) => {
      for (const listen of this.#listeners.get(channel) ?? []) listen(text);
    });
  }

  /** False: it went nowhere. */
  publish(channel: string, text: string): boolean {
    if (!this.#isThere || this.#sender.stream.writableLength > MAX_UNSENT) return false;
    this.#sender.publish(this.#prefix + channel, text).catch((error: unknown) => this.#failed(error));
    return true;
  }

  /** Until the returned function is called. */
  subscribe(channel: string, listen: Listen): () => void {
    const name = this.#prefix + channel;
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners);
    listeners.add(listen);
    if (listeners.size === 1) void this.#subscribe([name]);
    return () => {
      listeners.delete(listen);
      if (listeners.size > 0 || this.#listeners.get(name) !== listeners) return;
      this.#listeners.delete(name);
      if (this.#receiver.status === "ready") this.#receiver.unsubscribe(name).catch(() => undefined);
    };
  }

  /** Runs a script of ours on one key. Undefined: the server is away. */
  async run(script: string, key: string, ...values: readonly (string | number)[]): Promise<unknown> {
    if (!this.#isThere) return undefined;
    try {
      return await this.#sender.eval(script, 1, this.#prefix + key, ...values);
    } catch (error) {
      this.#failed(error);
      return undefined;
    }
  }

  /** Why it does not answer. Undefined: it does. */
  async findTrouble(): Promise<string | undefined> {
    if (this.#sender.status !== "ready") {
      const signal = AbortSignal.timeout(CONNECT_MS);
      await once(this.#sender, "ready", { signal }).catch(() => undefined);
    }
    try {
      await this.#sender.ping();
      return undefined;
    } catch (error) {
      return this.#trouble ?? (error instanceof Error ? error.message : String(error));
    }
  }

  close(): void {
    this.#listeners.clear();
    this.#sender.disconnect();
    this.#receiver.disconnect();
  }

  get #isThere(): boolean {
    return this.#sender.status === "ready" && performance.now() >= this.#leftAloneUntil;
  }

  #failed(error: unknown): void {
    this.#trouble = error instanceof Error ? error.message : String(error);
    this.#leftAloneUntil = performance.now() + LEFT_ALONE_MS;
  }

  /** Where the server is away it is done when it is back. */
  async #subscribe(channels: readonly string[]): Promise<void> {
    if (channels.length === 0 || this.#receiver.status !== "ready") return;
    await this.#receiver.subscribe(...channels).catch((error: unknown) => this.#failed(error));
  }
}
