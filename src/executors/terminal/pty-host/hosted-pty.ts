import { writeSync } from "node:fs";
import { type IPty, spawn } from "@lydell/node-pty";
import type { PtySpec } from "../session/pty.ts";
import type { Origin } from "./end-processes.ts";
import { OutputWindow } from "./output-window.ts";
import type { Program } from "./program.ts";
import type { FromPtyHost } from "./pty-host.ts";

export class HostedPty {
  readonly #pty: UnixPty;
  readonly #sendData: (data: Uint8Array) => void;
  readonly #input: InputQueue;
  readonly #window: OutputWindow;
  readonly #brand: string | undefined;
  /** A pseudo-terminal gives its output in small pieces; what comes in one turn of the loop goes in one message. */
  #gathered: Buffer[] = [];
  #runs = true;
  #onExit: (() => void) | undefined;

  /** Throws where there is no terminal to be had. */
  constructor(id: number, options: { spec: PtySpec; program: Program; send: (message: FromPtyHost) => void }) {
    const { spec, program, send } = options;
    const { columns: cols, rows, cwd, env } = spec;
    const pty = spawn(program.command, [...program.args], {
      ...{ name: "xterm-256color", cols, rows, cwd, env },
      // Decoded here, bytes that are no UTF-8 would be lost.
      encoding: null,
    });
    if (!isUnixPty(pty)) throw new Error("Pseudo-terminals of this system are not supported.");
    this.#pty = pty;
    this.#sendData = (data) => send({ type: "data", id, data });
    this.#window = new OutputWindow(pty);
    this.#brand = program.brand;
    this.#input = new InputQueue(pty.fd, (length) => send({ type: "written", id, length }));
    pty.on("close", () => this.#input.close());
    // Without an encoding it gives bytes, whatever its types say.
    pty.onData((data: string | Buffer) => this.#gather(Buffer.from(data as Buffer)));
    pty.onExit(({ exitCode, signal = 0 }) => {
      this.#flush();
      this.#runs = false;
      this.#onExit?.();
      send({ type: "exited", id, exitCode, signal });
    });
  }

  get origin(): Origin {
    return { pid: this.#pty.pid, brand: this.#brand, runs: this.#runs };
  }

  write(data: string): void {
    this.#input.push(data);
  }

  resize(columns: number, rows: number): void {
    if (this.#runs) this.#pty.resize(columns, rows);
  }

  taken(length: number): void {
    this.#window.taken(length);
  }

  /** Calls once, at once where the program has ended already. */
  whenExited(callback: () => void): void {
    if (!this.#runs) return callback();
    this.#onExit = callback;
    this.#window.open();
  }

  #gather(data: Buffer): void {
    if (this.#gathered.length === 0) setImmediate(() => this.#flush());
    this.#gathered.push(data);
    this.#window.gathered(data.length);
  }

  #flush(): void {
    if (this.#gathered.length > 0) this.#sendData(Buffer.concat(this.#gathered));
    this.#gathered = [];
  }
}

/** Fields that the package has and does not declare. */
interface UnixPty extends IPty {
  readonly fd: number;
  /** Comes before the descriptor can be given to another file. */
  on(event: "close", listener: () => void): void;
}

function isUnixPty(pty: IPty): pty is UnixPty {
  return "fd" in pty && typeof pty.fd === "number" && "on" in pty;
}

const FIRST_RETRY_MS = 2;
const LAST_RETRY_MS = 100;

/** Writes to a pseudo-terminal without blocking: one program that does not read its input must not hold up all other terminals. */
class InputQueue {
  readonly #fd: number;
  readonly #onWritten: (length: number) => void;
  #waiting: { bytes: Buffer; readonly length: number }[] = [];
  #retry: NodeJS.Timeout | undefined;
  #retryMs = FIRST_RETRY_MS;
  #isClosed = false;

  constructor(fd: number, onWritten: (length: number) => void) {
    this.#fd = fd;
    this.#onWritten = onWritten;
  }

  push(data: string): void {
    if (this.#isClosed) return;
    this.#waiting.push({ bytes: Buffer.from(data), length: data.length });
    if (this.#retry === undefined) this.#flush();
  }

  /** To be called before the descriptor can belong to another file. */
  close(): void {
    this.#isClosed = true;
    this.#waiting = [];
    clearTimeout(this.#retry);
  }

  #flush(): void {
    this.#retry = undefined;
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const written = this.#write(first.bytes);
      if (written === undefined) return this.#flushLater();
      this.#retryMs = FIRST_RETRY_MS;
      first.bytes = first.bytes.subarray(written);
      if (first.bytes.length > 0) continue;
      this.#waiting.shift();
      this.#onWritten(first.length);
    }
  }

  /** How much the kernel took. `undefined`: nothing at the moment. */
  #write(bytes: Buffer): number | undefined {
    try {
      return writeSync(this.#fd, bytes);
    } catch (error) {
      const isFull = error instanceof Error && "code" in error && error.code === "EAGAIN";
      // The program has ended: what is left has no reader.
      return isFull ? undefined : bytes.length;
    }
  }

  #flushLater(): void {
    this.#retry = setTimeout(() => this.#flush(), this.#retryMs);
    this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
  }
}
