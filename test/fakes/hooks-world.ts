import { expect, onTestFinished, vi } from "vitest";
import type { Graph } from "../../src/core/graph/graph.ts";
import { isJsonObject, type Json, type JsonObject } from "../../src/core/json.ts";
import type { OutboundOptions } from "../../src/executors/outbound/find-way.ts";
import { createOutbound } from "../../src/executors/outbound/outbound.ts";
import { createSmtpMailer } from "../../src/executors/outbound/smtp-mailer.ts";
import { DeliveryDispatcher } from "../../src/operations/webhooks/delivery-dispatcher.ts";
import { succeed } from "../faults/world.ts";
import type { FakeClock } from "./fake-clock.ts";
import { HttpWorld, type HttpWorldOptions } from "./http-world.ts";
import { task, uhlpGraph } from "./uhlp-graph.ts";

export const SECRET = "a-signing-secret";
export const ADMIN = { "x-api-key": "configured" };
export const PATIENT = { timeout: 10_000, interval: 5 };
export const HELLO = uhlpGraph({ name: "hello", steps: [task("work")] });

interface HooksOptions extends HttpWorldOptions {
  readonly graphs?: readonly Graph[];
  readonly outbound?: Partial<OutboundOptions>;
  /** Another process delivers the same. */
  readonly isOnly?: boolean;
}

/** The service with its dispatcher, whose time a test moves. */
export class Hooks {
  readonly world: HttpWorld;
  readonly said: string[] = [];
  readonly defects: unknown[] = [];
  readonly #outbound: Partial<OutboundOptions>;
  readonly #isOnly: boolean;
  dispatcher: DeliveryDispatcher;

  constructor({ graphs = [HELLO], outbound = {}, isOnly = true, webhook, ...options }: HooksOptions = {}) {
    this.#outbound = outbound;
    this.#isOnly = isOnly;
    this.world = new HttpWorld(graphs, {
      agent: { provider: "simulated" },
      server: { api_key: "configured" },
      plays: { work: () => succeed({ answer: 42 }, 12_500) },
      webhook: { secret: SECRET, retry_delay_ms: 1_000, ...webhook },
      ...options,
    });
    this.dispatcher = this.restart();
    onTestFinished(() => this.dispatcher.stop(AbortSignal.abort()));
  }

  get clock(): FakeClock {
    return this.world.world.clock;
  }

  /** What another process would begin with: nothing but the disk. */
  restart(): DeliveryDispatcher {
    const { smtp_url: url } = this.world.parts.app.config.settings.notify;
    this.dispatcher = new DeliveryDispatcher({
      app: this.world.parts.app,
      outbound: createOutbound({ allow: ["127.0.0.1"], ...this.#outbound }),
      mailer: url === undefined ? undefined : createSmtpMailer({ url, from: "pawl@example.org" }),
      random: () => 1,
      log: (line) => this.said.push(line),
      onDefect: (error) => this.defects.push(error),
      isOnly: this.#isOnly,
    });
    this.dispatcher.start();
    return this.dispatcher;
  }

  async run(more: JsonObject, headers = ADMIN): Promise<string> {
    const response = await this.world.post("/workflows/run/sync", { workflow: "hello", ...more }, headers);
    const { data } = (await response.json()) as { readonly data: JsonObject };
    return String(data["run_id"]);
  }

  async get(path: string, headers: Record<string, string> = ADMIN): Promise<JsonObject> {
    const { data } = (await (await this.world.request(path, { headers })).json()) as { readonly data: JsonObject };
    return data;
  }

  async webhooks(query = ""): Promise<readonly JsonObject[]> {
    const { items } = (await this.get(`/webhooks${query}`)) as { readonly items: readonly Json[] };
    return items.filter(isJsonObject);
  }

  /** From the end of the latest try to the next. */
  async pauseOf({ webhook_id: id, next_attempt_at: next }: JsonObject): Promise<number> {
    const { attempts } = (await this.get(`/webhooks/${id}`)) as { readonly attempts: readonly JsonObject[] };
    const { at, duration_seconds: seconds } = attempts.at(-1) ?? {};
    return Date.parse(String(next)) - Date.parse(String(at)) - Number(seconds) * 1_000;
  }

  /** Moves the time to a moment before the next try. */
  async almost({ next_attempt_at: next }: JsonObject): Promise<void> {
    await this.clock.advance(Date.parse(String(next)) - this.clock.now() - 1);
  }

  /** Lets it look, and waits until the newest delivery is as wanted. Time moves by one look only. */
  async newest(wanted: JsonObject): Promise<JsonObject> {
    await this.clock.advance(500);
    return vi.waitFor(async () => {
      const [newest = {}] = await this.webhooks();
      expect(newest).toMatchObject(wanted);
      return newest;
    }, PATIENT);
  }
}
