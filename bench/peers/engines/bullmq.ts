import { randomUUID } from "node:crypto";
import { type FlowJob, FlowProducer, QueueEvents, Worker } from "bullmq";
import { Redis } from "ioredis";
import type { OpenPeer } from "../peer.ts";

const QUEUE = "steps";

/** A step is a job; what follows is its parent, which begins when its children have ended. */
export const open: OpenPeer = async ({ redisPort }) => {
  const connection = { host: "127.0.0.1", port: redisPort, maxRetriesPerRequest: null };
  const flows = new FlowProducer({ connection });
  const events = new QueueEvents(QUEUE, { connection });
  const ends = new Map<string, () => void>();
  events.on("completed", ({ jobId }) => ends.get(jobId)?.());
  const worker = new Worker(QUEUE, async () => true, { connection, concurrency: 100 });
  await Promise.all([events.waitUntilReady(), worker.waitUntilReady()]);
  const run = async (root: FlowJob) => {
    const id = randomUUID();
    const ended = new Promise<void>((resolve) => ends.set(id, resolve));
    await flows.add({ ...root, opts: { jobId: id } });
    await ended;
    ends.delete(id);
  };
  return {
    async sequence(steps) {
      let last: FlowJob = { name: "s0", queueName: QUEUE };
      for (let n = 1; n < steps; n += 1) last = { name: `s${n}`, queueName: QUEUE, children: [last] };
      await run(last);
    },
    async fanOut(steps) {
      const children = Array.from({ length: steps }, (_, n) => ({ name: `s${n}`, queueName: QUEUE }));
      await run({ name: "join", queueName: QUEUE, children });
    },
    async settings() {
      const redis = new Redis(redisPort);
      const [, only] = (await redis.config("GET", "appendonly")) as string[];
      const [, fsync] = (await redis.config("GET", "appendfsync")) as string[];
      redis.disconnect();
      return `appendonly=${only}, appendfsync=${fsync}`;
    },
    async close() {
      await worker.close();
      await events.close();
      await flows.close();
    },
  };
};
