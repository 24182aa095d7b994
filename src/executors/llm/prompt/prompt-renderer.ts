import { Worker } from "node:worker_threads";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { PromptRenderer } from "../../../ports/prompt-renderer.ts";
import { toPromptInvalid } from "./prompt-invalid.ts";
import type { RenderReply, RenderRequest } from "./render-message.ts";

export interface RendererOptions {
  /** The time limit of one prompt. Default 5 seconds. */
  readonly timeoutMs?: number;
  /** Characters of a rendered prompt. Default 8 million, which no model reads. */
  readonly maxLength?: number;
}

/**
 * Renders on a thread of its own, started when it is first needed and again where a template has broken it: one that
 * does not end, or that takes all memory, must not stop the process that drives all runs. The thread keeps no process alive.
 */
export function createPromptRenderer(options: RendererOptions = {}): PromptRenderer {
  return new ThreadRenderer(options);
}

class ThreadRenderer implements PromptRenderer {
  readonly #timeoutMs: number;
  readonly #maxLength: number;
  #worker: Worker | undefined;
  /** One at a time, so that the time that a prompt takes is its own. */
  #last: Promise<unknown> = Promise.resolve();

  constructor({ timeoutMs = 5_000, maxLength = 8_000_000 }: RendererOptions) {
    this.#timeoutMs = timeoutMs;
    this.#maxLength = maxLength;
  }

  render(template: string, input: JsonObject): Promise<string> {
    const rendering = this.#last.then(() => this.#render({ template, input }));
    this.#last = rendering.catch(() => undefined);
    return rendering;
  }

  async #render(request: RenderRequest): Promise<string> {
    const reply = await this.#ask(request);
    if (reply === "timedOut") throw refused(`The template takes longer than ${this.#timeoutMs} ms to render.`);
    if (reply.type === "broken")
      throw refused("The template needs more memory than it may have, or is nested too deeply.");
    if (reply.type === "tooLarge")
      throw refused(`The prompt would be ${reply.length} characters long; ${this.#maxLength} are allowed.`);
    const invalid = toPromptInvalid(reply, request);
    if (invalid !== undefined) throw invalid;
    return reply.type === "rendered" ? reply.text : "";
  }

  async #ask(request: RenderRequest): Promise<RenderReply | "timedOut"> {
    const worker = this.#worker ?? startWorker(this.#maxLength);
    this.#worker = worker;
    worker.ref();
    try {
      const reply = await exchange(worker, request, this.#timeoutMs);
      const isUsable = reply !== "timedOut" && reply.type !== "broken";
      if (isUsable) worker.unref();
      else await this.#discard(worker);
      return reply;
    } catch (error) {
      await this.#discard(worker);
      throw error;
    }
  }

  async #discard(worker: Worker): Promise<void> {
    this.#worker = undefined;
    await worker.terminate();
  }
}

function startWorker(maxLength: number): Worker {
  // When the engine breaks down it says so on stderr, with the values that it had in hand. Nobody reads it: reading would
  // keep the process alive, and the thread ends with its engine.
  return new Worker(workerFile(), { workerData: { maxLength }, stderr: true, stdout: true });
}

/** Beside this file, as source or as built. */
function workerFile(): URL {
  const isSource = import.meta.url.endsWith(".ts");
  return isSource ? new URL("./worker-main.ts", import.meta.url) : new URL("./worker-main.js", import.meta.url);
}

function exchange(worker: Worker, request: RenderRequest, timeoutMs: number): Promise<RenderReply | "timedOut"> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => settle(() => resolve("timedOut")), timeoutMs);
    const onMessage = (reply: RenderReply) => settle(() => resolve(reply));
    const onError = (error: unknown) => settle(() => reject(error));
    const onExit = () => settle(() => resolve({ type: "broken" }));
    const settle = (end: () => void) => {
      clearTimeout(timer);
      worker.off("message", onMessage).off("error", onError).off("exit", onExit);
      end();
    };
    worker.on("message", onMessage).on("error", onError).on("exit", onExit);
    worker.postMessage(request);
  });
}

function refused(message: string): PawlError {
  return new PawlError("PROMPT_INVALID", { message, remedy: "Make the template simpler, or its values smaller." });
}
