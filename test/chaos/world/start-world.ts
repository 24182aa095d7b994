import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json, text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { startFakeModelServer } from "../../fakes/model-server/fake-model-server.ts";
import { result } from "../../fakes/sandstorm/documents.ts";
import { startFakeSandstorm, toStreamReply } from "../../fakes/sandstorm/fake-sandstorm.ts";
import { toEvents } from "../../fakes/sandstorm/framing.ts";
import { hashText } from "../../simulation/random.ts";
import { Bill } from "./bill.ts";
import { type Effect, EffectLog } from "./effect-log.ts";
import { answerTo, largeAnswer, toGiven } from "./value.ts";

export interface ReceivedWebhook {
  readonly at: number;
  readonly id: string;
  readonly body: string;
  readonly refused: boolean;
}

/** Everything outside that steps talk to: an HTTP service, an agent server, a model, and who is told of ends. */
export interface World {
  readonly url: string;
  readonly host: string;
  readonly sandstormUrl: string;
  readonly modelUrl: string;
  readonly log: EffectLog;
  readonly webhooks: ReceivedWebhook[];
  readonly bill: Bill;
  stop(): Promise<void>;
}

const AGENT_USD = 0.01;

/** Every so manyth webhook is refused, so that some are tried again without any fault. */
const REFUSES_WEBHOOKS = 7;

interface Asked {
  readonly label: string;
  readonly step: string;
  readonly given: unknown;
  /** How often it fails first. */
  readonly fails?: number | string;
  /** Answers with a large value beside. */
  readonly large?: boolean;
}

export async function startWorld(logFile: string): Promise<World> {
  const log = new EffectLog(logFile);
  const webhooks: ReceivedWebhook[] = [];
  const bill = new Bill();

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    if (incoming.url === "/webhook") {
      const refused = webhooks.length % REFUSES_WEBHOOKS === REFUSES_WEBHOOKS - 1;
      const id = String(incoming.headers["webhook-id"]);
      webhooks.push({ at: Date.now(), id, body: await text(incoming), refused });
      return void outgoing.writeHead(refused ? 500 : 204).end();
    }
    const { label, step, given, fails = 0, large = false } = (await json(incoming)) as Asked;
    const before = log.countOf(label, step);
    const key = incoming.headers["idempotency-key"];
    const effect = log.begin({ by: "http", label, step, given: toGiven(given), key: toText(key) });
    effect.failed = before < Number(fails);
    await setTimeout(delayOf(effect));
    const value = answerTo(label, step, effect.given);
    if (outgoing.destroyed) return;
    effect.until = Date.now();
    outgoing.writeHead(effect.failed ? 500 : 200, { "content-type": "application/json" });
    outgoing.end(JSON.stringify({ value, ...(large ? { large: largeAnswer(value) } : {}) }));
  }

  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing).catch(() => outgoing.destroy()));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;

  const sandstorm = await startFakeSandstorm({
    async play({ body, headers }) {
      const key = decodeURIComponent(toText(headers["idempotency-key"]) ?? "");
      const effect = log.begin({ by: "agent", ...readPrompt(String(body["prompt"])), key });
      await setTimeout(delayOf(effect));
      effect.until = Date.now();
      const said = answerTo(effect.label, effect.step, effect.given);
      return toStreamReply(
        toEvents([result({ result: said, total_cost_usd: AGENT_USD })]).map((bytes) => ({ do: "send", bytes })),
      );
    },
  });

  const model = await startFakeModelServer({
    keepsRequests: false,
    async replies({ shown, body }) {
      const asked = shown.messages.at(-1)?.text ?? "";
      const effect = log.begin({ by: "model", ...readPrompt(asked), key: undefined });
      const said = answerTo(effect.label, effect.step, effect.given);
      const usage = bill.add(effect.label, { input: JSON.stringify(body).length, output: said.length });
      await setTimeout(delayOf(effect));
      effect.until = Date.now();
      return { do: "say", text: said, usage };
    },
  });

  return {
    url: `http://${host}`,
    host,
    sandstormUrl: sandstorm.url,
    modelUrl: model.url,
    log,
    webhooks,
    bill,
    async stop() {
      server.closeAllConnections();
      await Promise.all([new Promise((resolve) => server.close(resolve)), sandstorm.close(), model.close()]);
    },
  };
}

/** `LABEL|STEP|GIVEN`, wherever it stands in the prompt. */
function readPrompt(prompt: string): Pick<Effect, "label" | "step" | "given"> {
  const [, label = "?", step = "?", given = ""] = /([\w-]+)\|([^|\n]+)\|([^|\n]*)\|/.exec(prompt) ?? [];
  return { label, step, given };
}

/** Most work is short, and some long enough that faults find it under way. */
function delayOf({ label, step }: Effect): number {
  const drawn = hashText(`${label} ${step}`) % 100;
  if (step.startsWith("slow")) return 2_000;
  return drawn < 85 ? 10 + drawn : 300 + drawn * 10;
}

function toText(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === "string" ? header : header?.[0];
}
