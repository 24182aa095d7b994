import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Headers and body as they came, dots unstuffed. */
  readonly raw: string;
}

/** A mail server over real TCP on loopback. Ends with its test. */
export class SmtpReceiver {
  readonly received: ReceivedMail[] = [];
  /** What the next `RCPT` commands are answered, one after another; then they are taken. `hang`: nothing at all. */
  readonly replies: string[] = [];
  /** What was given to `AUTH`. */
  readonly logins: string[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #port: number;

  private constructor(port: number) {
    this.#port = port;
  }

  static async listen(): Promise<SmtpReceiver> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const receiver = new SmtpReceiver((server.address() as AddressInfo).port);
    server.on("connection", (socket) => {
      receiver.#sockets.add(socket);
      socket.on("error", () => socket.destroy());
      void receiver.#converse(socket);
    });
    onTestFinished(() => {
      for (const socket of receiver.#sockets) socket.destroy();
      server.close();
    });
    return receiver;
  }

  url(login = ""): string {
    return `smtp://${login}127.0.0.1:${this.#port}`;
  }

  async #converse(socket: Socket): Promise<void> {
    const say = (line: string) => socket.write(`${line}\r\n`);
    let from = "";
    let to: string[] = [];
    let data: string[] | undefined;
    say("220 fake ready");
    for await (const line of createInterface({ input: socket, crlfDelay: Number.POSITIVE_INFINITY })) {
      if (data !== undefined) {
        if (line !== ".") data.push(line.replace(/^\.\./, "."));
        else {
          this.received.push({ from, to, raw: data.join("\n") });
          data = undefined;
          to = [];
          say("250 taken");
        }
        continue;
      }
      const command = line.slice(0, 4).toUpperCase();
      if (command === "EHLO") socket.write("250-fake\r\n250 AUTH PLAIN\r\n");
      else if (command === "AUTH") {
        this.logins.push(Buffer.from(line.split(" ")[2] ?? "", "base64").toString());
        say("235 welcome");
      } else if (command === "MAIL") {
        from = line;
        say("250 ok");
      } else if (command === "RCPT") {
        const reply = this.replies.shift() ?? "250 ok";
        if (reply.startsWith("250")) to.push(line.slice("RCPT TO:".length));
        if (reply !== "hang") say(reply);
      } else if (command === "DATA") {
        data = [];
        say("354 go on");
      } else if (command === "QUIT") {
        say("221 bye");
        socket.end();
      } else say("250 ok");
    }
  }
}
