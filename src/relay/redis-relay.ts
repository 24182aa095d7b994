import { randomUUID } from "node:crypto";
import { writeExact } from "../core/exact-json.ts";
import { isJsonObject, type JsonObject } from "../core/json.ts";
import { parseJson } from "../core/parse-json.ts";
import type { RunRelay, TellRun } from "../ports/run-relay.ts";
import type { RedisLink } from "./redis-link.ts";

/** A watcher says so again and again, so that one that has died is not told for ever. */
const ASK_EVERY_MS = 5_000;
const WATCHED_FOR_MS = 15_000;
const SEND_EVERY_MS = 20;
/** Of a run, in one message. What is more is dropped. */
const MAX_CHARACTERS = 256 * 1024;
const MAX_WATCHED = 10_000;

const WATCHED = "watched";
const channelOf = (runId: string) => `run:${runId}`;

interface WatchedRun {
  until: number;
  pending: string[];
  characters: number;
  end(): void;
}

/** Sends what runs tell to those who watch them, and nothing of runs that are not watched. */
export function createRedisRelay(link: RedisLink): RunRelay {
  const self = randomUUID();
  return {
    serve(begin) {
      const teller = new RunTeller(link, self, begin);
      return () => teller.close();
    },

    watch(runId, listen) {
      const ask = () => link.publish(WATCHED, writeExact({ by: self, run: runId }));
      const stop = link.subscribe(channelOf(runId), (text) => {
        const message = readMessage(text);
        if (message === undefined || message["by"] === self || !Array.isArray(message["notices"])) return;
        for (const notice of message["notices"]) if (isJsonObject(notice)) listen(notice);
      });
      ask();
      const timer = setInterval(ask, ASK_EVERY_MS).unref();
      return () => {
        clearInterval(timer);
        stop();
      };
    },
  };
}

/** The runs that other processes watch. */
class RunTeller {
  readonly #link: RedisLink;
  readonly #self: string;
  readonly #begin: (runId: string, tell: TellRun) => () => void;
  readonly #watched = new Map<string, WatchedRun>();
  readonly #stop: () => void;
  readonly #sweep: NodeJS.Timeout;
  #sending: NodeJS.Timeout | undefined;

  constructor(link: RedisLink, self: string, begin: (runId: string, tell: TellRun) => () => void) {
    this.#link = link;
    this.#self = self;
    this.#begin = begin;
    this.#stop = link.subscribe(WATCHED, (text) => this.#asked(text));
    this.#sweep = setInterval(() => this.#forget(performance.now()), ASK_EVERY_MS).unref();
  }

  close(): void {
    clearInterval(this.#sweep);
    clearTimeout(this.#sending);
    this.#stop();
    this.#forget(Number.POSITIVE_INFINITY);
  }

  #asked(text: string): void {
    const { by, run } = readMessage(text) ?? {};
    if (typeof run !== "string" || by === this.#self) return;
    const until = performance.now() + WATCHED_FOR_MS;
    const known = this.#watched.get(run);
    if (known !== undefined) known.until = until;
    else if (this.#watched.size < MAX_WATCHED) this.#watch(run, until);
  }

  #watch(run: string, until: number): void {
    const watched: WatchedRun = { until, pending: [], characters: 0, end: () => undefined };
    this.#watched.set(run, watched);
    watched.end = this.#begin(run, (notice) => {
      const text = writeExact(notice);
      if (watched.characters + text.length > MAX_CHARACTERS) return;
      watched.characters += text.length;
      watched.pending.push(text);
      this.#sending ??= setTimeout(() => this.#send(), SEND_EVERY_MS).unref();
    });
  }

  #send(): void {
    this.#sending = undefined;
    for (const [run, watched] of this.#watched) {
      if (watched.pending.length === 0) continue;
      this.#link.publish(channelOf(run), `{"by":"${this.#self}","notices":[${watched.pending.join(",")}]}`);
      watched.pending = [];
      watched.characters = 0;
    }
  }

  #forget(now: number): void {
    for (const [run, { until, end }] of this.#watched) {
      if (until > now) continue;
      this.#watched.delete(run);
      end();
    }
  }
}

/** Undefined: it is not of ours. */
function readMessage(text: string): JsonObject | undefined {
  const message = parseJson(text);
  return isJsonObject(message) ? message : undefined;
}
