import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { needs } from "../../support/needs.ts";
import { application } from "../support/application.ts";
import { pawl, startPawl } from "../support/pawl.ts";

const ASK = `
import json, urllib.request
def main(url):
    try:
        return urllib.request.urlopen(url, timeout=5).read().decode()
    except Exception as error:
        return "refused: " + str(error)
`;

const FILES = {
  "flow.yaml": `
name: flow
input_schema: {type: object, properties: {url: {type: string}}}
steps:
  - {id: ask, type: code, script: scripts/ask.py#main, params: {url: "{input.url}"}, network: true}
`,
  "scripts/ask.py": ASK,
};

/** A machine whose bubblewrap fails and says this. */
function withoutSandbox(cwd: string, said: string): Record<string, string> {
  mkdirSync(join(cwd, "bin"));
  writeFileSync(join(cwd, "bin", "bwrap"), `#!/bin/sh\necho '${said}' >&2\nexit 1\n`, { mode: 0o755 });
  return { PATH: `${join(cwd, "bin")}:${process.env["PATH"]}` };
}

async function serve(): Promise<string> {
  const server = createServer((_, answer) => answer.end("hello"));
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/`;
}

test.each([
  ["bwrap: No permissions to create new namespace", /user namespaces from users|container \(seccomp\)/],
  ["bwrap: setting up uid map: Permission denied", /AppArmor.*apparmor_restrict_unprivileged_userns=0/],
  ["bwrap: Creating new namespace failed: Operation not permitted", /container \(seccomp\).*seccomp=unconfined/],
  ["bwrap: Unknown option --disable-userns", /older than 0\.8.*apt install bubblewrap/],
])(
  "where bubblewrap says %j a code step fails, with the cause and the setting that accepts the risk",
  async (said, cause) => {
    needs("python3");
    const cwd = application(FILES);
    const env = withoutSandbox(cwd, said);
    const args = ["run", "flow.yaml", "--json", "-i", "url=http://example.com"];
    // In processes of their own: the sandbox looks at the PATH of the process.
    const refused = await startPawl(args, { cwd, env }).ended;
    const doctor = await startPawl(["doctor"], { cwd, env }).ended;
    const accepted = await startPawl(args, { cwd, env: { ...env, PAWL_CODE__SANDBOX: "off" } }).ended;

    expect(refused.code).not.toBe(0);
    expect(refused.stdout + refused.stderr).toMatch(/SANDBOX_MISSING/);
    expect(refused.stdout + refused.stderr).toMatch(/code\.sandbox/);
    expect(refused.stdout).toContain(said);
    expect((refused.stdout + refused.stderr).replaceAll("\n", " ")).toMatch(cause);
    expect(doctor.code).toBe(0);
    const shown = (doctor.stdout + doctor.stderr).replaceAll(/\s+/g, " ");
    expect(shown).toContain(`sandbox: ${said}`);
    expect(shown).toMatch(cause);
    expect(shown).toMatch(/steps that run code are refused.*code\.sandbox: off/);
    expect(accepted.code).toBe(0);
  },
);

test("a script with the network reaches what is allowed, and this machine only then", async () => {
  needs("bwrap", "python3");
  const cwd = application(FILES);
  const url = await serve();
  const args = ["run", "flow.yaml", "--json", "-i", `url=${url}`];
  const refused = JSON.parse((await pawl(args, { cwd })).stdout);
  const allowed = JSON.parse((await pawl(args, { cwd, env: { PAWL_OUTBOUND__ALLOW: new URL(url).host } })).stdout);

  expect(refused.data.outputs.ask).toMatch(/refused: HTTP Error 403/);
  expect(allowed.data.outputs.ask).toBe("hello");
});
