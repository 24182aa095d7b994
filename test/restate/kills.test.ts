import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { Step } from "../../src/core/graph/graph.ts";
import { openSqliteJournal } from "../../src/storage/sqlite/sqlite-journal.ts";
import { COMPILE_CACHE } from "../fakes/compile-cache.ts";
import { dag, literal, task } from "../simulation/build.ts";
import { newGraph } from "../simulation/random-graph.ts";
import { findFreePort } from "../support/free-port.ts";
import { RestateServer } from "../support/restate-server.ts";
import { register } from "./open-host.ts";
import { openRestateWorld } from "./restate-world.ts";

const KILLS = 10;
const LANES = 4;
const STEPS = 1_000;
/** Each kill comes after so many more steps than the one before, so that none falls into the pause of another. */
const PROGRESS = 60;

/** A run of a thousand steps, four at a time, whose endpoint is a process of its own. */
class Disturbed {
  readonly server: RestateServer;
  readonly #folder: string;
  readonly #place: string;
  #child: ChildProcess | undefined;

  private constructor(server: RestateServer, folder: string, port: number) {
    this.server = server;
    this.#folder = folder;
    const { ingressUrl, adminUrl } = server;
    // So that the run goes on in other invocations too.
    this.#place = JSON.stringify({ folder, port, ingressUrl, adminUrl, maxEntries: 150 });
  }

  static async begin(): Promise<Disturbed> {
    const server = await RestateServer.open();
    const folder = mkdtempSync(join(tmpdir(), "pawl-kills-"));
    const port = await findFreePort();
    const disturbed = new Disturbed(server, folder, port);
    onTestFinished(async () => {
      disturbed.killEndpoint();
      await server.remove();
      rmSync(folder, { recursive: true, force: true });
    });
    await disturbed.startEndpoint("run-1", String(LANES), String(STEPS / LANES));
    await register(server, port);
    return disturbed;
  }

  async startEndpoint(...run: string[]): Promise<void> {
    const program = join(import.meta.dirname, "endpoint-child.ts");
    const env = { ...process.env, ...COMPILE_CACHE };
    this.#child = fork(program, [this.#place, this.#effectsFile, ...run], { env, stdio: "inherit" });
    await once(this.#child, "message");
  }

  killEndpoint(): void {
    this.#child?.kill("SIGKILL");
  }

  get #effectsFile(): string {
    return join(this.#folder, "effects");
  }

  /** What steps have done, in order. */
  effects(): readonly string[] {
    return existsSync(this.#effectsFile) ? readFileSync(this.#effectsFile, "utf8").split("\n").slice(0, -1) : [];
  }

  /** Resolves when steps have done so many things more than at the last look. */
  async progressed(from: number): Promise<number> {
    for (;;) {
      const done = this.effects().length;
      if (done >= from + PROGRESS) return done;
      await setTimeout(5);
    }
  }

  /** The paths of the outcomes on record, once the run has ended. */
  async outcomes(): Promise<readonly string[]> {
    const journal = openSqliteJournal({ path: join(this.#folder, "pawl.db"), durability: "power" });
    try {
      for (;;) {
        const record = await journal.findRun("run-1");
        if (record === undefined || record === "ambiguous") throw new Error("The run is gone.");
        if (record.completedAt === undefined) {
          await setTimeout(50);
          continue;
        }
        const rows = await journal.readEvents(record.no, { afterSeq: 0, limit: 10_000 });
        return rows.flatMap(({ event }) => (event.type === "stepSucceeded" ? [event.path] : []));
      }
    } finally {
      await journal.close();
    }
  }
}

async function expectEachStepOnce(disturbed: Disturbed): Promise<void> {
  const outcomes = await disturbed.outcomes();
  expect(outcomes).toHaveLength(STEPS);
  expect(new Set(outcomes).size).toBe(STEPS);
  const paths = disturbed.effects().map((line) => line.split(" ", 1)[0]);
  expect(new Set(paths).size).toBe(STEPS);
  expect(paths.length).toBeLessThanOrEqual(STEPS + KILLS * LANES);
}

// Ten times a process is started, and Restate notices that it is back.
test("10 kills of the endpoint: each step is recorded once, and only what was in flight is done again", {
  timeout: 120_000,
}, async () => {
  const disturbed = await Disturbed.begin();
  for (let kill = 0, done = 0; kill < KILLS; kill += 1) {
    done = await disturbed.progressed(done);
    disturbed.killEndpoint();
    await disturbed.startEndpoint();
  }
  await expectEachStepOnce(disturbed);
});

// Ten times a server is started.
test("10 kills of the server: each step is recorded once, and only what was in flight is done again", {
  timeout: 120_000,
}, async () => {
  const disturbed = await Disturbed.begin();
  for (let kill = 0, done = 0; kill < KILLS; kill += 1) {
    done = await disturbed.progressed(done);
    await disturbed.server.kill();
    await disturbed.server.start();
  }
  await expectEachStepOnce(disturbed);
});

test("where the server has lost its data, what is on record goes on, and no step is done again", async () => {
  const server = await RestateServer.open();
  onTestFinished(() => server.remove());
  const done: string[] = [];
  const { host, port } = await openRestateWorld(server, {
    recordsInput: false,
    async run({ path }) {
      done.push(path);
      return { status: "succeeded", output: path, costMicro: 0 };
    },
  });
  const asks = {
    kind: "approve",
    id: "look",
    after: ["draft"],
    message: literal("Is it good?"),
    onReject: "abort",
  } as Step;
  const graph = newGraph("asks", dag(task("draft"), asks, task("publish", { after: ["look"] })));
  const { id } = await host.startRun({ definition: { text: "", graph }, input: {} });
  expect((await host.settled(id)).status).toBe("awaiting_approval");

  await server.loseData();
  await register(server, port);
  await host.startUnfinished();
  await host.request(id, { type: "answer", path: "look", answer: { answer: "approve" } });
  expect((await host.settled(id)).status).toBe("completed");
  expect(done).toEqual(["draft", "publish"]);
  const known = await server.query(`SELECT status FROM sys_invocation WHERE target_service_key = '${id}'`);
  expect(known.length).toBeGreaterThan(0);
});
