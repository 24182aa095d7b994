import { test } from "vitest";
import { killServers } from "../agents/kill-servers.ts";

test("tool servers that are killed at any moment lose no answer, repeat no charge and leave no process, 50 times", async () => {
  await killServers(50);
});
