import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { listenOn } from "./listen-on.ts";

async function ask(socket: Socket): Promise<string> {
  socket.write("GET / HTTP/1.1\r\nhost: here\r\n\r\n");
  const [answer] = (await once(socket, "data")) as [Buffer];
  return answer.toString();
}

async function connectTo(url: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  return socket;
}

test("a request on its way when a server closes is answered, and its connection ends", async () => {
  const listener = await listenOn(() => new Response("here"), { address: "127.0.0.1", port: 0 });
  const [asking, silent] = [await connectTo(listener.url), await connectTo(listener.url)];
  expect(await ask(asking)).toMatch(/^HTTP\/1.1 200 (.|\r\n)*connection: keep-alive/i);
  await ask(silent);
  const ends = Promise.all([once(asking, "close"), once(silent, "close")]);
  const closed = listener.close();
  expect(await ask(asking)).toMatch(/^HTTP\/1.1 200 (.|\r\n)*connection: close/i);
  asking.resume();
  silent.resume();
  await Promise.all([closed, ends]);
  await expect(connectTo(listener.url)).rejects.toMatchObject({ code: "ECONNREFUSED" });
});
