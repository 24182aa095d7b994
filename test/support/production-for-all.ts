import type { TestProject } from "vitest/node";
import { findTool } from "./needs.ts";
import { RedisServer } from "./redis-server.ts";
import { startS3Server } from "./s3-server.ts";

let stop: (() => Promise<unknown>) | undefined;

/** One bucket and one Redis for all tests of the profile `production`. Each has a prefix of its own there. */
export async function setup(project: TestProject): Promise<void> {
  const given = process.env["REDIS_URL"];
  const program = findTool("redis-server");
  if (given === undefined && program === undefined) return;
  const redis = given === undefined && program !== undefined ? await RedisServer.open(program) : undefined;
  const store = await startS3Server();
  const bucket = await store.makeBucket("profile");
  project.provide("production", { redisUrl: redis?.url ?? given ?? "", endpoint: store.endpoint, bucket });
  stop = () => Promise.all([store.stop(), redis?.kill()]);
}

export async function teardown(): Promise<void> {
  await stop?.();
}
