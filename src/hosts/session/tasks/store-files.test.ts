import { expect, test } from "vitest";
import { MemoryFileStorage } from "../../../../test/support/memory/memory-file-storage.ts";
import { storeFiles } from "./store-files.ts";

const AT = { runId: "r", path: "enrich[3]" };

async function store(produced: readonly { readonly name: string; readonly content: Uint8Array }[], maxBytes = 100) {
  const files = new MemoryFileStorage();
  const keeping = { files, maxBytes, mask: (text: string) => text.replaceAll("hunter2", "***") };
  const dropped = await storeFiles(produced, AT, keeping);
  // Another attempt of the same step.
  await storeFiles(produced, AT, keeping);
  const listed = await files.list("artifacts/r/steps/");
  return { dropped, files, paths: listed.map(({ path }) => path) };
}

test("names from outside lead nowhere, and another attempt writes the same ones", async () => {
  const names = [
    "/etc/passwd",
    "..\\..\\boot.ini",
    ".hidden",
    "",
    "a\u0000b\n.txt",
    "\u00fcber.pdf",
    "\u{1F600}".repeat(100),
  ];
  const { paths } = await store(names.map((name) => ({ name, content: Buffer.from("x") })));
  const folder = "artifacts/r/steps/enrich(3)/";
  expect(paths).toEqual(
    ["passwd", "boot.ini", "hidden", "file", "a_b_.txt", "\u00fcber.pdf", "_".repeat(100)]
      .map((n) => folder + n)
      .sort(),
  );
});

test("files that are too large or too many are not kept, and it is said which", async () => {
  const large = await store([{ name: "big.bin", content: Buffer.alloc(101) }]);
  expect(large.paths).toEqual([]);
  expect(large.dropped).toMatchObject([{ name: "big.bin", bytes: 101, reason: expect.stringContaining("100 bytes") }]);
  const many = await store(Array.from({ length: 102 }, (_, n) => ({ name: `${n}`, content: Buffer.from("x") })));
  expect(many.paths).toHaveLength(100);
  expect(many.dropped).toHaveLength(2);
});

test("secrets are taken out of texts; other bytes stay as they are", async () => {
  const bytes = Buffer.from([0xff, 0xfe, 0x00]);
  const { files } = await store([
    { name: "log.txt", content: Buffer.from("password hunter2") },
    { name: "image.bin", content: bytes },
  ]);
  const read = async (name: string) => Buffer.from((await files.read(`artifacts/r/steps/enrich(3)/${name}`)) ?? []);
  expect((await read("log.txt")).toString()).toBe("password ***");
  expect(await read("image.bin")).toEqual(bytes);
});
