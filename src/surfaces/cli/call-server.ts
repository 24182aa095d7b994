import type { PawlClient } from "../../client/pawl-client.ts";
import type { Event } from "../../core/history/events.ts";
import type { RunCaller } from "./caller.ts";
import { tell } from "./print.ts";
import { toPawlError } from "./remote/perform-remotely.ts";
import { shortId } from "./render/text/formats.ts";
import type { Voice } from "./voice.ts";

/** Has a server do operations. A server that starts again is followed on. */
export function callServer(client: PawlClient, voice: Voice): RunCaller {
  return {
    async call({ id, http }, given) {
      if ("no" in http) throw new Error(`The operation ${id} is not to be had over HTTP.`);
      // A server of this version answers as the operation's schema says.
      return client.send(`${http.method} ${http.path}`, given).catch((error: unknown) => {
        throw toPawlError(error);
      }) as Promise<never>;
    },
    async follow({ runId, begin, listen }, stop) {
      await begin?.();
      const lost = () => voice.say(`The connection to ${client.url} is lost. Trying again ...`);
      try {
        for await (const told of client.followRun(runId, { events: true, progress: true, signal: stop, lost })) {
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
    },
    readHead: (id) => client.call("GET /runs/{id}", { id, steps: false, prompts: false, whole: true }),
    readRun: (id) => client.call("GET /runs/{id}", { id, whole: true }),
    readGraph: (id, called) => client.call("GET /runs/{id}/graph", { id, called }),
    /** The server delivers them. */
    countUndelivered: async () => 0,
    place: async () => `at ${client.url}`,
    isDriven: async () => true,
    leave: async () => undefined,
    async park(runId) {
      tell(`The run goes on at ${client.url}. Follow it again: pawl runs watch ${shortId(runId)}`);
      return "goes on";
    },
    abandon: async () => undefined,
  };
}
