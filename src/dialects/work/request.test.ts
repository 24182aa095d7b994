import { expect, test } from "vitest";
import { answerWith, WebhookReceiver } from "../../../test/fakes/webhook-receiver.ts";
import { type Play, World } from "../../../test/faults/world.ts";
import type { Graph } from "../../core/graph/graph.ts";
import { liftControls } from "../../core/graph/lift-controls.ts";
import type { JsonObject } from "../../core/json.ts";
import { createHttpExecutor } from "../../executors/http/http-executor.ts";
import { createOutbound } from "../../executors/outbound/outbound.ts";
import { loadDefinition } from "../load-definition.ts";

const uhlp = (keys: string) =>
  `workflowId: w\nstartAt: a\nsteps:\n  a:\n    type: http\n    url: https://api.example.com/orders\n${indented(keys)}    end: true\n`;
const sandcastle = (keys: string, url = "https://api.example.com/orders") =>
  `name: w\nenv: {allow: [SHOP_SECRET]}\nsteps:\n  - id: a\n    type: http\n    url: ${url}\n${indented(keys)}`;

function indented(keys: string): string {
  return keys.replaceAll(/^/gm, "    ").concat("\n");
}

async function graphOf(text: string): Promise<Graph> {
  const { problems, graph } = await loadDefinition({ text });
  expect(problems).toEqual([]);
  if (graph === undefined) throw new Error("It has no graph.");
  return liftControls(graph);
}

/** What the executor is given, where a file says it. */
async function givenBy(text: string): Promise<JsonObject> {
  const [step] = (await graphOf(text)).flow.steps;
  if (step?.kind !== "task" || step.input.op !== "object") throw new Error("It is no request.");
  const { method: _, url: _url, headers: _headers, query: _query, ...rest } = step.input.entries;
  return rest as unknown as JsonObject;
}

test.each([
  ["method: POST\nform: {name: \"'Ada'\"}", "method: POST\nform: {name: Ada}"],
  ["response: file", "response: file"],
  ["maxResponseBytes: 100", "max_response_bytes: 100"],
  ["pages: {items: data.list, link: next, maxPages: 3}", "pages: {items: data.list, link: next, max_pages: 3}"],
  ["pages: {next: meta.next}", "pages: {next: meta.next}"],
  ["pages: {cursor: {path: meta.next, parameter: after}}", "pages: {cursor: {path: meta.next, parameter: after}}"],
  ["pages: {offset: skip}", "pages: {offset: skip}"],
  ["pages: {page: p, maxPages: 2}", "pages: {page: p, maxPages: 2}"],
  ["auth: {bearer: \"'abc'\"}", "auth: {bearer: abc}"],
  ["auth: {basic: {username: \"'Ada'\", password: \"'abc'\"}}", "auth: {basic: {username: Ada, password: abc}}"],
  [
    "auth: {oauth: {tokenUrl: https://x.example/t, clientId: \"'me'\", clientSecret: \"'abc'\", audience: \"'us'\", sendIn: body}}",
    "auth: {oauth: {token_url: https://x.example/t, client_id: me, client_secret: abc, audience: us, send_in: body}}",
  ],
])("a request is said in Sandcastle as in UHLP: %s", async (inUhlp, inSandcastle) => {
  expect(await givenBy(sandcastle(inSandcastle))).toEqual(await givenBy(uhlp(inUhlp)));
});

test.each([
  ["form: {a: 1}", "`GET` sends no body.", 7, 5],
  ["method: POST\nbody: 1\nform: {a: 1}", "`form` stands beside `body`.", 9, 5],
  ["method: POST\npages: {link: next}", "Pages are read with `GET`.", 8, 5],
  ["response: file\npages: {link: next}", "Pages are read as JSON, not as `file`.", 8, 5],
  ["pages: {items: a}", "does not say how the next one is found", 7, 5],
  ["pages: {offset: a, page: b}", "two ways to the next one", 7, 5],
  ["pages: {page: p, max_pages: 0}", "`max_pages` must be", 7, 33],
  ["pages: {cursor: {path: a}}", "pages.cursor` has no `parameter`", 7, 13],
  ["auth: {}", "`auth` says nothing.", 7, 5],
  ["auth: {bearer: a, basic: {username: a, password: b}}", "`auth` says two things.", 7, 5],
  ["auth: {oauth: {token_url: https://x.example/, client_id: a}}", "auth.oauth` has no `client_secret`", 7, 12],
  [
    "auth: {oauth: {token_url: https://x.example/, client_id: a, client_secret: b, sendin: body}}",
    "Did you mean `send_in`?",
    7,
    83,
  ],
  ["response: csv", "one of auto, json, text, file", 7, 15],
])("what a request of Sandcastle cannot mean is said with its place: %s", async (keys, said, line, column) => {
  const { problems } = await loadDefinition({ text: sandcastle(keys) });
  expect(problems).toHaveLength(1);
  expect(JSON.stringify(problems[0])).toContain(said);
  expect(problems[0]?.place).toMatchObject({ line, column });
});

const JSON_ANSWER = { "content-type": "application/json" };
const http = createHttpExecutor({
  outbound: createOutbound({ allow: ["127.0.0.1"] }),
  timeoutMs: 5_000,
  maxBytes: 10_000,
});

const play: Play = (task, signal) => http.run(task, signal);

test("a request of Sandcastle fetches a token, reads all pages and sends a form", async () => {
  const server = await WebhookReceiver.listen();
  const reply = (body: unknown) => server.replies.push(answerWith(200, JSON_ANSWER, JSON.stringify(body)));
  reply({ access_token: "token-4711", token_type: "Bearer", expires_in: 3600 });
  reply({ list: [1, 2], meta: { next: "c2" } });
  reply({ list: [3], meta: {} });
  server.replies.push(answerWith(200, { "content-type": "application/pdf" }, "%PDF"));
  const text = `name: w
env: {allow: [SHOP_SECRET]}
steps:
  - id: list
    type: http
    url: ${server.url("/orders")}
    auth: {oauth: {token_url: "${server.url("/")}{input.issuer}", client_id: "{input.client}", client_secret: "$\{SHOP_SECRET}"}}
    pages: {items: list, cursor: {path: meta.next, parameter: after}}
  - id: bill
    type: http
    depends_on: [list]
    url: ${server.url("/bills")}
    method: POST
    form: {orders: "{steps.list.output.body}", for: "{input.client}"}
    response: file
`;
  const world = new World({
    plays: { list: play, bill: play },
    host: { env: (name) => (name === "SHOP_SECRET" ? "s3cr3t" : undefined) },
  });
  const run = await world.run(await graphOf(text), { issuer: "token", client: "shop" });
  expect(run).toMatchObject({ status: "completed" });
  expect(server.received).toMatchObject([
    { path: "/token", headers: { authorization: `Basic ${Buffer.from("shop:s3cr3t").toString("base64")}` } },
    { path: "/orders", headers: { authorization: "Bearer token-4711" } },
    { path: "/orders?after=c2" },
    { path: "/bills", method: "POST", body: "orders=1&orders=2&orders=3&for=shop" },
  ]);
});
