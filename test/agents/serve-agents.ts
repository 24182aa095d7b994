import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createApp } from "../../src/app/create-app.ts";
import { parseExact, writeExact } from "../../src/core/exact-json.ts";
import type { Json } from "../../src/core/json.ts";
import { type FakeModelServer, type Play, startFakeModelServer } from "../fakes/model-server/fake-model-server.ts";

interface ServedAgents {
  readonly folder: string;
  readonly url: string;
  readonly model: FakeModelServer;
  /** What `pawl serve` would write to stderr. */
  readonly told: readonly string[];
  readonly defects: readonly unknown[];
  get(path: string): Promise<Answer>;
  post(path: string, body: Json): Promise<Answer>;
  write(file: string, text: string): void;
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
}

interface Given {
  /** Texts by path. */
  readonly files: Readonly<Record<string, string>>;
  readonly replies: Play;
  readonly environment?: Readonly<Record<string, string>>;
}

/** An application that listens, in this process; its models are one fake server (`fake:`). Whoever opens it closes it. */
export async function serveAgents({ files, replies, environment = {} }: Given): Promise<ServedAgents> {
  const model = await startFakeModelServer({ replies });
  const folder = mkdtempSync(join(tmpdir(), "pawl-served-"));
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  for (const [file, text] of Object.entries(files)) write(file, text);
  const provider = { kind: "anthropic", base_url: model.url, api_key: "any" };
  if (!existsSync(join(folder, "pawl.yaml")))
    write("pawl.yaml", writeExact({ models: { providers: { fake: provider } } }));
  const told: string[] = [];
  const defects: unknown[] = [];
  const app = await createApp({
    appDir: folder,
    flags: {},
    environment: { PATH: process.env["PATH"] ?? "", ...environment },
    program: [],
    tell: () => undefined,
    onDefect: (error) => void defects.push(error),
  });
  const service = await app.listen({ port: 0, log: (line) => void told.push(line) });
  const ask = async (path: string, init: RequestInit): Promise<Answer> => {
    const response = await fetch(`${service.url}${path}`, init);
    return { status: response.status, body: parseExact<Answer["body"]>(await response.text()) };
  };
  return {
    folder,
    url: service.url,
    model,
    told,
    defects,
    write,
    get: (path) => ask(path, {}),
    post: (path, body) =>
      ask(path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: writeExact(body),
      }),
    async close() {
      await service.stop(AbortSignal.timeout(5_000));
      await app.park(AbortSignal.abort());
      await app.close();
      await model.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
