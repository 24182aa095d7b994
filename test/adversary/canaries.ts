import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";

/** What must never happen, and did. */
export interface Violation {
  readonly kind:
    | "command"
    | "variable"
    | "file"
    | "address"
    | "foreign"
    | "crash"
    | "slow"
    | "error"
    | "lost"
    | "doubled"
    | "start";
  readonly detail: string;
}

/**
 * Things in the world that only a way through can touch. The checker looks at them alone: whatever the server says of itself is
 * no evidence.
 */
export class Canaries {
  /** A command that an attack gets through makes a file in here. */
  readonly marks: string;
  /** A file beside the application, with `fileSecret` in it. */
  readonly file: string;
  readonly fileSecret = secret("file");
  /** The value of `PAWL_CANARY` and, in other texts, of the keys of providers, in the environment of the server. */
  readonly variableSecret = secret("variable");
  /** What another tenant has given its runs, its conversation and its files. */
  readonly foreignSecret = secret("foreign");
  readonly #servers: Server[] = [];
  readonly #visits: string[] = [];
  #port = 0;

  constructor(folder: string) {
    this.marks = join(folder, "marks");
    mkdirSync(this.marks);
    this.file = join(folder, "canary.txt");
    writeFileSync(this.file, `${this.fileSecret}\n`);
  }

  /** Listens on every private address of this machine, at one port. */
  async listen(): Promise<void> {
    const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
    const addresses = ["127.0.0.1", ...own.map(({ address }) => address)].filter(
      (address) => !address.startsWith("fe80"),
    );
    for (const address of new Set(addresses)) {
      const server = createServer((socket) => {
        const visit = { text: "" };
        socket.on("error", () => undefined);
        socket.on("data", (chunk) => {
          visit.text = (visit.text + chunk.toString("latin1")).slice(0, 400);
          socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${this.fileSecret.length}\r\n\r\n${this.fileSecret}`);
        });
        socket.on("close", () => this.#visits.push(`${address}: ${visit.text.split("\r\n")[0] ?? ""}`));
      });
      server.listen(this.#port, address);
      const isUp = await Promise.race([
        once(server, "listening").then(() => true),
        once(server, "error").then(() => false),
      ]);
      if (!isUp) continue;
      this.#port = (server.address() as AddressInfo).port;
      this.#servers.push(server);
    }
  }

  get port(): number {
    return this.#port;
  }

  /** The way of an attack to show that it ran. */
  markOf(attack: string): string {
    return join(this.marks, attack.replace(/[^A-Za-z0-9-]/g, "_"));
  }

  /** Looks at the world, and for secrets in everything that the server has said. */
  check(texts: readonly { readonly from: string; readonly text: string }[]): readonly Violation[] {
    const marks = existsSync(this.marks) ? readdirSync(this.marks) : [];
    const found: Violation[] = [
      ...marks.map((detail) => ({ kind: "command" as const, detail })),
      ...this.#visits.map((detail) => ({ kind: "address" as const, detail })),
    ];
    for (const { from, text } of texts) {
      for (const kind of ["variable", "file", "foreign"] as const)
        if (spellings(this[`${kind}Secret`]).some((each) => text.includes(each))) found.push({ kind, detail: from });
    }
    return found;
  }

  close(): void {
    for (const server of this.#servers) server.close();
  }
}

function secret(kind: string): string {
  return `canary-${kind}-${randomBytes(12).toString("hex")}`;
}

/** As it is, reversed and in the encodings in which it could get out unseen. */
function spellings(text: string): readonly string[] {
  const bytes = Buffer.from(text);
  return [text, [...text].reverse().join(""), bytes.toString("hex"), bytes.toString("base64").slice(0, -4)];
}
