import { test } from "vitest";
import { knock, printBesideIdleViewers } from "../terminal-view/load.ts";

test("100 MB are printed while some look on and never read", async () => {
  await printBesideIdleViewers(100_000_000);
});

test("thousands of connections are turned away, and the view goes on", async () => {
  await knock(3_000);
});
