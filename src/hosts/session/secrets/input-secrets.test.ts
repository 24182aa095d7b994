import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/contracts/temporary-folder.ts";
import { path, task, toGraph } from "../../../../test/faults/graphs.ts";
import { World } from "../../../../test/faults/world.ts";
import { KnownSecrets } from "../../../config/known-secrets.ts";
import { FileSealer } from "../../../storage/files/file-sealer.ts";
import type { LocalHostOptions } from "../../local/local-host-options.ts";

const schema = { properties: { key: { type: "string", secret: true }, pin: { type: "integer", format: "password" } } };
const steps = toGraph([task("first", { input: path("input.key") }), task("last", { input: path("input") })]);
const graph = { ...steps, input: { ...steps.input, schema } };
const input = { key: "planted-4711", pin: 71_934_526, other: "planted-4711 is the key" };

function keeping(keyFile: string): Pick<LocalHostOptions, "mask" | "secrets"> {
  const known = new KnownSecrets([]);
  const sealer = new FileSealer({ path: keyFile });
  return {
    mask: known.mask,
    secrets: {
      learn: (values) => known.learn(values),
      seal: (text) => sealer.seal(text),
      derive: (purpose: string) => sealer.derive(purpose),
      open: (text) => sealer.open(text),
    },
  };
}

test("steps get a secret input as it is, and nothing that is stored holds it", async () => {
  const world = new World({ host: keeping(join(temporaryFolder(), "key")) });
  const { id, status } = await world.run(graph, input);
  expect(status).toBe("completed");
  expect(world.calls.map((call) => call.input)).toEqual(["planted-4711", { ...input, other: "[redacted] is the key" }]);
  const events = JSON.stringify(await world.eventsOf(id));
  expect(events).not.toMatch(/planted-4711|71934526/);
});

test("a rerun has the secrets of the run that it repeats; with another key its steps fail and say so", async () => {
  const keyFile = join(temporaryFolder(), "key");
  const world = new World({ host: keeping(keyFile) });
  const { id } = await world.run(graph, input);
  const shown = { ...input, key: "[redacted]", pin: "[redacted]" };
  const lineage = { kind: "rerun", run: id, fromPath: "first" } as const;
  await world.run(graph, shown, { lineage });
  expect(world.calls.filter(({ stepId }) => stepId === "first").map((call) => call.input)).toEqual([
    "planted-4711",
    "planted-4711",
  ]);
  const other = world.next({ host: keeping(join(temporaryFolder(), "other")) });
  await expect(other.run(graph, shown, { lineage })).rejects.toMatchObject({ code: "SECRET_UNREADABLE" });
});

test("a request's secrets are those of its payload, wherever it has one", async () => {
  const uhlp = { ...toGraph([task("work", { input: path("input") })]), dialect: "uhlp" } as const;
  const request = { ...uhlp, input: { ...uhlp.input, schema } };
  const body = JSON.stringify({ key: "planted-4711" });
  for (const requestData of [
    { source: "internal", payload: input },
    { source: "queue", queueDetails: { payload: { pin: 71_934_526 } } },
    { source: "http", httpDetails: { method: "POST", body } },
    // A form; its body has them encoded.
    { source: "http", payload: JSON.parse(body), httpDetails: { method: "POST", body: "key=planted%2D4711" } },
    {
      source: "http",
      httpDetails: { method: "POST", body: Buffer.from(body).toString("base64"), bodyEncoding: "base64" },
    },
  ]) {
    const work = () => ({ status: "succeeded", output: "It was planted-4711.", costMicro: 0 }) as const;
    const world = new World({ host: keeping(join(temporaryFolder(), "key")), plays: { work } });
    const { id, status } = await world.run(request, {
      requestData: JSON.parse(JSON.stringify(requestData)),
      context: {},
    });
    expect(status).toBe("completed");
    // What is known only as a part of the payload is masked in the rest of it as everywhere.
    const [call] = world.calls.map((each) => JSON.stringify(each.input));
    expect(call).toContain(JSON.stringify(requestData.httpDetails?.body ?? 71_934_526));
    const stored = [...(await world.valuesOf(id, "runStarted")), ...(await world.valuesOf(id, "stepSucceeded"))].join();
    expect(stored).not.toMatch(/71934526/);
    if (requestData.source !== "queue") expect(stored).not.toMatch(/planted-4711|planted%2D4711|cGxhbnRlZC00NzEx/);
    expect(stored).not.toContain(Buffer.from(body).toString("base64"));
  }
});
