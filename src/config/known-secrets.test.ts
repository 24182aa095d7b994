import { expect, test } from "vitest";
import { KnownSecrets } from "./known-secrets.ts";

test("secrets of runs are masked like configured ones, as long as a run holds them and a while longer", () => {
  const secrets = new KnownSecrets(["configured-1"]);
  const [first, second] = [secrets.learn(["given-to-two"]), secrets.learn(["given-to-two"])];
  expect(secrets.mask("configured-1 given-to-two")).toBe("[redacted] [redacted]");
  first();
  first();
  second();
  expect(secrets.mask("given-to-two")).toBe("[redacted]");
  for (let i = 0; i < 20; i += 1) secrets.learn([`another-${i}-secret`])();
  expect(secrets.mask("given-to-two another-19-secret")).toBe("given-to-two [redacted]");
});

test("a snapshot keeps the secrets that were known then", () => {
  const secrets = new KnownSecrets([]);
  const release = secrets.learn(["given-secret"]);
  const { spellings, mask } = secrets.snapshot();
  release();
  expect(spellings).toContain("given-secret");
  expect(mask("given-secret")).toBe("[redacted]");
});
