import type { JsonObject } from "../../../core/json.ts";
import { anyMap, either, list } from "../../shape/containers.ts";
import { ignored, optional } from "../../shape/fields.ts";
import { object } from "../../shape/object.ts";
import { choice, flag, number, text } from "../../shape/scalars.ts";
import { type ReadOf, type Shape, to } from "../../shape/shape.ts";
import { toJson } from "../../source/yaml-node.ts";
import { names, plain, texts } from "./parts.ts";

const TRANSPORTS = ["stdio", "http", "streamable-http", "sse"];
/** How the later format calls them. */
const LATER_TRANSPORTS: ReadonlyMap<string, string> = new Map([
  ["local", "stdio"],
  ["http_stream", "http"],
  ["streamable_http", "http"],
]);

/** Undefined: it is no way to reach a server. */
export function toTransport(written: string): string | undefined {
  const name = LATER_TRANSPORTS.get(written) ?? written;
  return TRANSPORTS.includes(name) ? name : undefined;
}

const transport = text({
  pattern: `^(${[...TRANSPORTS, ...LATER_TRANSPORTS.keys()].join("|")})$`,
  wrong: (written) => ({
    code: "VALUE_INVALID",
    message: `\`${written}\` is no way to reach a server.`,
    remedy: `Use ${TRANSPORTS.join(", ")}.`,
  }),
});

const plainText = to(text(), ({ value }) => value);
const nameTexts = to(names(), (found) => found.map(({ name }) => name));

const url = to(
  text({
    expected: "a URL",
    pattern: "^(https?:\\/\\/|\\$\\{)\\S+$",
    wrong: () => ({
      code: "VALUE_INVALID",
      message: "`url` must be a URL, or a variable of the environment.",
      remedy: "Begin it with `http://` or `https://`.",
    }),
  }),
  ({ value }) => value,
);

const root: Shape<JsonObject> = {
  expected: "a map with a `uri`",
  kinds: ["map"],
  read(node, _spot, reader) {
    const uri = node.kind === "map" ? node.entries.get("uri")?.value : undefined;
    // A map is an object.
    if (uri?.kind === "scalar" && typeof uri.value === "string") return toJson(node) as JsonObject;
    const message = "An entry of `roots` is a map with a `uri`.";
    return reader.refuse({ code: "WRONG_TYPE", at: node, message, remedy: "Write `{uri, name}`." });
  },
  toSchema: () => ({ type: "object", properties: { uri: { type: "string" } }, required: ["uri"] }),
};

const YEAR_MS = 31_536_000_000;

const settings = plain(to(anyMap(), (node) => toJson(node) as JsonObject));

/** One MCP server. `msPerUnit`: of its time-out, which a map `mcpServers` has in milliseconds, as other programs write it. */
export function server(msPerUnit: 1 | 1_000) {
  const timeout = to(number({ min: 0.001, max: YEAR_MS / msPerUnit }), (given) =>
    Math.max(1, Math.round(given * msPerUnit)),
  );
  return object(
    {
      client_id: ignored("read with the component."),
      name: ignored("read with the component."),
      description: ignored("for people."),
      // The original asks servers what they can, and reads these no more than we do.
      capabilities: ignored("servers are asked."),
      registration_timeout: ignored("it is the original's."),
      type: optional(text(), "How it is reached, or `client`, `mcp_server`."),
      transport_type: optional(transport, "How it is reached: `stdio`, `http`, `sse`.", { also: ["transport"] }),
      server_path: optional(plainText, "A file, started by its ending."),
      command: optional(plainText, "A program, with `args`."),
      url: optional(url, "Where it is reached over HTTP.", { also: ["http_endpoint"] }),
      args: optional(nameTexts, "What the program is started with."),
      env: optional(texts(), "Variables of its environment."),
      cwd: optional(plainText, "The folder that it runs in."),
      headers: optional(texts(), "Headers of each request."),
      venv: optional(plainText, "The virtual environment of a Python file."),
      roots: optional(plain(list(root)), "Folders that it may know of: `{uri, name}`."),
      timeout: optional(timeout, msPerUnit === 1 ? "Milliseconds for each call." : "Seconds for each call."),
      routing_weight: optional(
        number({ min: 0, max: 1_000_000 }),
        "Which server goes first where several have a tool.",
      ),
      exclude: optional(nameTexts, "Its tools that nobody gets."),
      required: optional(
        flag(),
        "`false`: agents that name it do without it where it cannot be reached. Default `true`.",
      ),
      start: optional(plain(choice(["lazy", "eager"])), "When it is started: as it is needed, or at once."),
      protocol: optional(plain(choice(["auto", "legacy", "2026-07-28"])), "The version of MCP that it speaks."),
      tools: optional(settings, "Settings of single tools."),
      oauth: optional(texts(), "Who Pawl is where the server wants a login."),
      elicitation: optional(plain(choice(["ask", "refuse"])), "Whether its questions to people are asked."),
      sampling: optional(either(plain(choice(["allow"])), settings), "Whether, and how, models are asked for it."),
    },
    { title: msPerUnit === 1 ? "a client of `mcpServers`" : "a client" },
  );
}

export type ReadServer = ReadOf<ReturnType<typeof server>>;
