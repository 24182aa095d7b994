import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cutAt, type LineEnd, toEvent, toPing } from "../../../../test/fakes/sandstorm/framing.ts";
import { parseExact, writeExact } from "../../../core/exact-json.ts";
import { createDocumentDecoder, type Decoded, EventTooLargeError, readDocuments } from "./document-decoder.ts";

const RECORDED = readFileSync(
  new URL("../../../../test/fixtures/sandstorm/conversation.jsonl", import.meta.url),
  "utf8",
);
const DOCUMENTS: readonly unknown[] = RECORDED.trim()
  .split("\n")
  .map((line) => parseExact(line));
const STDERR = { type: "stderr", data: 'npm warn {"deprecated": [' };

/** Texts of documents, `~` and the text of noise. */
function decode(...events: readonly string[]): readonly string[] {
  const decoder = createDocumentDecoder();
  return [...events.flatMap((event) => [...decoder.push(event)]), ...decoder.end()].map(toText);
}

function toText(decoded: Decoded): string {
  return decoded.kind === "noise" ? `~${decoded.text}` : writeExact(decoded.document);
}

describe("documents in events", () => {
  const a = '{"type":"a"}';
  const table: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ["one in one", [a], [a]],
    ["two in one", [`${a}\n${a}`], [a, a]],
    ["one over three", ['{"ty', 'pe":"', 'a"}'], [a]],
    ["the end of one, a whole one, the start of one", ['{"type":', `"a"}\n${a}\n{"type"`, ':"a"}'], [a, a, a]],
    [
      "stderr between two pieces",
      ['{"type":', '{"type":"stderr","data":"x"}', '"a"}'],
      ['{"type":"stderr","data":"x"}', a],
    ],
    ["plain text", ["npm notice", a], ["~npm notice", a]],
    [
      "JSON that is no document",
      ["[1]", "7", '{"kind":"a"}', '{"type":1}', a],
      ["~[1]", "~7", '~{"kind":"a"}', '~{"type":1}', a],
    ],
    [
      "a piece that could stand alone",
      ['{"type":"a","x":[', '{"type":"text"}', ',{"type":"text"}', "]}"],
      ['{"type":"a","x":[{"type":"text"},{"type":"text"}]}'],
    ],
    ["a document whose end never came", ['{"type":"a","x":"y', a], [a, '~{"type":"a","x":"y']],
    ["a new cut document after a lost piece", ['{"type":"a","x":"y', '{"type"', ':"a"}'], ['~{"type":"a","x":"y', a]],
    ["brackets that do not match", ['{"type":"a"]', a], ['~{"type":"a"]', a]],
    ["text after the end", ['{"type":', '"a"} and more', a], ['~{"type":"a"} and more', a]],
    ["only blanks", ["", "  ", a], [a]],
  ];
  for (const [name, events, expected] of table) test(name, () => expect(decode(...events)).toEqual(expected));

  test("a carry that grows too large is dropped, and the next document is found", () => {
    const decoder = createDocumentDecoder({ maxCarryChars: 20 });
    const decoded = ['{"type":"a","x":"', "y".repeat(20), '{"type":"b"}'].flatMap((event) => [...decoder.push(event)]);
    expect(decoded.map((one) => one.kind)).toEqual(["noise", "document"]);
  });

  test("a document in very many pieces costs one pass, not one for each piece", () => {
    const decoder = createDocumentDecoder();
    const pieces = ['{"type":"a","x":"', ...Array.from({ length: 200_000 }, () => "}}"), '"}'];
    const decoded = pieces.flatMap((piece) => [...decoder.push(piece)]);
    expect(decoded).toHaveLength(1);
  });
});

describe("however the stream is cut", () => {
  test("a recorded conversation always decodes to the same documents", async () => {
    await fc.assert(
      fc.asyncProperty(streamOf(RECORDED), async ({ bytes, stderrs }) => {
        const decoded = await decodeBytes(bytes);
        expect(decoded.documents.filter((document) => !isStderr(document))).toEqual(DOCUMENTS);
        expect(decoded.documents.filter(isStderr)).toHaveLength(stderrs);
        expect(decoded.noise).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  test("any documents do", async () => {
    const anyDocument = fc.dictionary(fc.string(), fc.jsonValue()).map((members) => ({ ...members, type: "user" }));
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyDocument, { minLength: 1, maxLength: 5 }).chain((documents) => {
          const text = documents.map((document) => `${writeExact(document)}\n`).join("");
          return streamOf(text).map((cut) => ({
            ...cut,
            expected: text
              .trim()
              .split("\n")
              .map((line) => parseExact(line)),
          }));
        }),
        async ({ bytes, expected }) => {
          const decoded = await decodeBytes(bytes);
          expect(decoded.documents.filter((document) => !isStderr(document))).toEqual(expected);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("no bytes at all make it throw", async () => {
    const anyBytes = fc.array(
      fc.oneof(
        fc.uint8Array({ maxLength: 30 }),
        fc
          .constantFrom('data: {"type":', "data: ", "\r\n", "{", '"}', "\n\n", ": ", "\r")
          .map((text) => Buffer.from(text)),
      ),
    );
    await fc.assert(
      fc.asyncProperty(anyBytes, async (chunks) => void (await decodeBytes(chunks))),
      { numRuns: 300 },
    );
  });

  test("a line that never ends is given up", async () => {
    const endless = async () => {
      for await (const _ of readDocuments(endlessLine(), { onBytes: () => {}, maxEventChars: 1_000 }));
    };
    await expect(endless()).rejects.toBeInstanceOf(EventTooLargeError);
  });
});

async function* endlessLine(): AsyncGenerator<Uint8Array> {
  yield Buffer.from("data: ");
  for (;;) yield Buffer.from("x".repeat(100));
}

async function decodeBytes(chunks: readonly Uint8Array[]) {
  const documents: unknown[] = [];
  const noise: string[] = [];
  async function* network(): AsyncGenerator<Uint8Array> {
    yield* chunks;
  }
  for await (const decoded of readDocuments(network(), { onBytes: () => {} })) {
    if (decoded.kind === "noise") noise.push(decoded.text);
    else documents.push(decoded.document);
  }
  return { documents, noise };
}

interface CutStream {
  readonly bytes: readonly Uint8Array[];
  readonly stderrs: number;
}

/** A sandbox's stdout as a server may send it: chunks cut anywhere, stderr and pings between them, bytes cut anywhere. */
function streamOf(stdout: string): fc.Arbitrary<CutStream> {
  const places = Array.from({ length: stdout.length }, (_, index) => index).filter((index) => canBeCut(stdout, index));
  return fc
    .record({
      cuts: fc.uniqueArray(fc.constantFrom(...places), { maxLength: 40 }),
      between: fc.infiniteStream(fc.constantFrom("nothing", "nothing", "ping", "stderr")),
      lineEnd: fc.constantFrom<LineEnd>("\r\n", "\r\n", "\n", "\r"),
      byteCuts: fc.array(fc.nat({ max: 2 * stdout.length }), { maxLength: 60 }),
    })
    .map(({ cuts, between, lineEnd, byteCuts }) => {
      const chunks = cutAt(stdout, cuts).filter((chunk) => chunk.trim() !== "");
      const parts = chunks.flatMap((chunk) => [toEvent(chunk, lineEnd), toFiller(between.next().value, lineEnd)]);
      const bytes = Buffer.from(parts.join(""));
      const edges = [0, ...byteCuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
      return {
        bytes: edges.slice(1).map((end, index) => bytes.subarray(edges[index], end)),
        stderrs: parts.filter((part) => part.includes("npm warn")).length,
      };
    });
}

function toFiller(kind: string, lineEnd: LineEnd): string {
  if (kind === "ping") return toPing(lineEnd);
  return kind === "stderr" ? toEvent(writeExact(STDERR), lineEnd) : "";
}

/** Not beside a blank, which the server would strip for good, nor inside one character. */
function canBeCut(text: string, index: number): boolean {
  const around = text.slice(Math.max(0, index - 1), index + 1);
  return !/[^\S\n]/.test(around) && !/[\uD800-\uDBFF][\uDC00-\uDFFF]/.test(around);
}

function isStderr(document: unknown): boolean {
  return writeExact(document) === writeExact(STDERR);
}
