import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { needs } from "../support/needs.ts";

const MAIN = fileURLToPath(new URL("../chaos/main.ts", import.meta.url));

test("a small topology under all faults for a while loses nothing and does nothing twice", async () => {
  needs("redis-server");
  const args = ["--small", "--minutes", "0.4", "--seed", "9", "--runs", "2", "--json"];
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => {
    child.kill("SIGTERM");
  });
  const ended = once(child, "exit");
  const { violations, runs, faults } = JSON.parse(await text(child.stdout));
  expect(violations).toEqual([]);
  expect(runs).toBeGreaterThan(10);
  expect(Object.keys(faults).length).toBeGreaterThan(2);
  expect(await ended).toEqual([0, null]);
  // Nine servers are started, killed and started again.
});
