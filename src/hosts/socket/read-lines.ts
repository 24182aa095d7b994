import type { Socket } from "node:net";

export interface LineReader {
  line(text: string): void;
  /** A line is longer than allowed: nothing more is read. */
  tooLong(): void;
}

/** Cuts what a socket receives into lines. A line that never ends costs at most `maxBytes` of memory. */
export function readLines(socket: Socket, maxBytes: number, reader: LineReader): void {
  let pieces: Buffer[] = [];
  let bytes = 0;
  let isBroken = false;
  socket.on("data", (chunk: Buffer) => {
    let from = 0;
    while (!isBroken) {
      const end = chunk.indexOf(NEWLINE, from);
      const piece = chunk.subarray(from, end === -1 ? chunk.length : end);
      bytes += piece.length;
      if (bytes > maxBytes) {
        isBroken = true;
        pieces = [];
        reader.tooLong();
        return;
      }
      pieces.push(piece);
      if (end === -1) return;
      const text = Buffer.concat(pieces).toString("utf8");
      pieces = [];
      bytes = 0;
      from = end + 1;
      if (text !== "") reader.line(text);
    }
  });
}

const NEWLINE = 0x0a;
