import type { z } from "zod";
import type { PawlClient } from "../../client/pawl-client.ts";
import type { Graph } from "../../core/graph/graph.ts";
import type { Event } from "../../core/history/events.ts";
import type { Operation } from "../../operations/operation.ts";
import type { FollowedRun, RunCaller } from "./caller.ts";
import { tell } from "./print.ts";
import { toPawlError } from "./remote/perform-remotely.ts";
import { shortId } from "./render/text/formats.ts";
import type { Voice } from "./voice.ts";

/** Has a server do operations. A server that starts again is followed on. */
export class ServerCaller implements RunCaller {
  readonly client: PawlClient;
  readonly #voice: Voice;

  constructor(client: PawlClient, voice: Voice) {
    this.client = client;
    this.#voice = voice;
  }

  async call<Input extends z.ZodObject, Output extends z.ZodType>(
    { id, http }: Operation<Input, Output>,
    given: Readonly<Record<string, unknown>>,
  ): Promise<z.output<Output>> {
    if ("no" in http) throw new Error(`The operation ${id} is not to be had over HTTP.`);
    // A server of this version answers as the operation's schema says.
    const answer = this.client.send(`${http.method} ${http.path}`, given) as Promise<z.output<Output>>;
    return answer.catch((error: unknown) => {
      throw toPawlError(error);
    });
  }

  async follow({ runId, begin, listen }: FollowedRun, stop: AbortSignal): Promise<"at rest" | "stopped"> {
    await begin?.();
    const lost = () => this.#voice.say(`The connection to ${this.client.url} is lost. Trying again ...`);
    try {
      for await (const told of this.client.followRun(runId, { events: true, progress: true, signal: stop, lost })) {
        // A server of this version writes events as this program reads them.
        if (told.event === "event") listen({ type: "event", seq: told.data.seq, event: told.data.event as Event });
        if (told.event === "progress" || told.event === "live") listen({ type: told.event, ...told.data });
        // Everything that came before has been told.
        if (told.event === "status" && told.data.at_rest) return "at rest";
      }
      return "at rest";
    } catch (error) {
      if (stop.aborted) return "stopped";
      throw error;
    }
  }

  async readHead(id: string) {
    return this.client.call("GET /runs/{id}", { id, steps: false, prompts: false, whole: true });
  }

  async readRun(id: string) {
    return this.client.call("GET /runs/{id}", { id, whole: true });
  }

  async readGraph(id: string, called?: string): Promise<Graph> {
    return this.client.call("GET /runs/{id}/graph", { id, called });
  }

  /** The server delivers them. */
  async countUndelivered() {
    return 0;
  }

  async place() {
    return `at ${this.client.url}`;
  }

  async isDriven() {
    return true;
  }

  async leave() {}

  async park(runId: string) {
    tell(`The run goes on at ${this.client.url}. Follow it again: pawl runs watch ${shortId(runId)}`);
    return "goes on" as const;
  }

  async abandon() {}
}
