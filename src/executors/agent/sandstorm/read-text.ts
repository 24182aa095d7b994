/** Reads the beginning of a body. What breaks off or goes on for ever still gives its beginning. */
export async function readText(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      bytes += chunk.byteLength;
      if (bytes >= maxBytes) break;
    }
  } catch {
    // The status line has already said what matters.
  }
  return Buffer.concat(chunks).subarray(0, maxBytes).toString("utf8");
}
