import { createServer } from "node:http";

/** The floor of a route that answers JSON: Node alone, which reads the body and keeps nothing. */
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const text = Buffer.concat(chunks).toString("utf8");
    const body: unknown = text === "" ? null : JSON.parse(text);
    const answer = Buffer.from(JSON.stringify({ ok: true, body }));
    response.writeHead(200, { "content-type": "application/json", "content-length": answer.length }).end(answer);
  });
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address !== null && typeof address === "object") console.log(`Pawl listens on http://127.0.0.1:${address.port}`);
});
