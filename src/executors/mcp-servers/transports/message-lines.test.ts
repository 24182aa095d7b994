import { expect, test } from "vitest";
import { MessageLines } from "./process-transport.ts";

test("lines come whole, however the stream is cut", () => {
  const text = Buffer.from('{"a":"ü"}\n\n{"b":2}\nrest');
  for (let size = 1; size <= text.length; size += 1) {
    const lines = new MessageLines(100);
    const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, index) => {
      return text.subarray(index * size, (index + 1) * size);
    });
    expect(chunks.flatMap((chunk) => [...lines.push(chunk)])).toEqual(['{"a":"ü"}', "", '{"b":2}']);
  }
});

test("a line that is too long is refused, whether it ends or not", () => {
  const lines = new MessageLines(1024 * 1024);
  expect(() => [...lines.push(Buffer.alloc(1024 * 1024 + 1, "x"))]).toThrow("more than 1 MiB");
  expect([...lines.push(Buffer.from("next\n"))]).toEqual(["next"]);
  expect(() => [...lines.push(Buffer.from(`${"x".repeat(1024 * 1024 + 1)}\n`))]).toThrow("more than 1 MiB");
});
