import { test } from "vitest";
import { killServers } from "./kill-servers.ts";

test("tool servers that are killed at any moment lose no answer, repeat no charge and leave no process, 3 times", async () => {
  await killServers(3);
});
