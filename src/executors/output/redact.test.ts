import { expect, test } from "vitest";
import { createRedactor } from "./redact.ts";

const redactor = createRedactor(["sk-ant-1234", 'pass"word/é', undefined, "", "abc"]);

test("a secret is masked wherever it stands, also as JSON and in a URL", () => {
  const text = `a sk-ant-1234sk-ant-1234 ${JSON.stringify('pass"word/é')} ?p=${encodeURIComponent('pass"word/é')}`;
  expect(redactor.text(text)).toBe('a [redacted][redacted] "[redacted]" ?p=[redacted]');
});

test("values keep their shape; names are masked too", () => {
  expect(redactor.json({ "sk-ant-1234": [1, null, { x: "Bearer sk-ant-1234" }] })).toEqual({
    "[redacted]": [1, null, { x: "Bearer [redacted]" }],
  });
});

test("bytes that are no text stay as they are", () => {
  const content = Buffer.from([0, 255, 128, ...Buffer.from("sk-ant-1234"), 254]);
  expect(redactor.bytes(content)).toEqual(Buffer.from([0, 255, 128, ...Buffer.from("[redacted]"), 254]));
});

test("words as short as three letters are no secrets", () => {
  expect(redactor.text("abc")).toBe("abc");
});

test("a secret that holds another is masked as a whole", () => {
  expect(createRedactor(["secret", "secret-longer"]).text("secret-longer secret")).toBe("[redacted] [redacted]");
});
