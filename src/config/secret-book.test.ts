import { expect, test } from "vitest";
import { SecretBook } from "./secret-book.ts";

test("what runs were given is masked like what is configured, as long as one of them holds it and a while longer", () => {
  const book = new SecretBook(["configured-1"]);
  const [first, second] = [book.learn(["given-to-two"]), book.learn(["given-to-two"])];
  expect(book.mask("configured-1 given-to-two")).toBe("[redacted] [redacted]");
  first();
  first();
  second();
  expect(book.mask("given-to-two")).toBe("[redacted]");
  for (let i = 0; i < 20; i += 1) book.learn([`another-${i}-secret`])();
  expect(book.mask("given-to-two another-19-secret")).toBe("given-to-two [redacted]");
});

test("whoever masks on its own keeps what was known then", () => {
  const book = new SecretBook([]);
  const release = book.learn(["given-secret"]);
  const { spellings, mask } = book.snapshot();
  release();
  expect(spellings).toContain("given-secret");
  expect(mask("given-secret")).toBe("[redacted]");
});
