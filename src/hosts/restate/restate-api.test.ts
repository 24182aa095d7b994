import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { findFreePort } from "../../../test/support/free-port.ts";
import { RestateApi } from "./restate-api.ts";

async function listen(port: number, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(port, "127.0.0.1");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function apiAt(url: string, failed: (error: unknown) => void = () => undefined): RestateApi {
  const api = new RestateApi({ ingressUrl: url, adminUrl: url, service: "pawl", maxEntries: 7, failed });
  onTestFinished(() => api.close());
  return api;
}

test("a run that is started and woken while Restate is away is told of once when it answers", async () => {
  const port = await findFreePort();
  const isAway = Promise.withResolvers<unknown>();
  const api = apiAt(`http://127.0.0.1:${port}`, isAway.resolve);
  for (let time = 0; time < 3; time += 1) {
    api.start("run-1");
    api.wake("run-1");
  }
  expect(await isAway.promise).toMatchObject({ code: "RESTATE_UNREACHABLE" });
  const asked: (string | undefined)[] = [];
  await listen(port, ({ url }, answer) => {
    asked.push(url);
    answer.end("{}");
  });
  await api.close();
  expect(asked.sort()).toEqual(["/pawl/run-1/run/send", "/pawl/run-1/wake/send"]);
});

test("something else than Restate at its address is an error with that answer", async () => {
  const api = apiAt(await listen(0, (_, answer) => answer.end("<html>Welcome</html>")));
  await expect(api.isRegistered()).rejects.toMatchObject({
    code: "RESTATE_REFUSED",
    message: expect.stringContaining("<html>Welcome</html>"),
  });
});

test("an answer that is cut off is Restate that does not answer", async () => {
  const url = await listen(0, (_, answer) => {
    answer.writeHead(200, { "content-length": "100" }).write("{", () => answer.destroy());
  });
  await expect(apiAt(url).register("http://127.0.0.1:9080")).rejects.toMatchObject({ code: "RESTATE_UNREACHABLE" });
});
