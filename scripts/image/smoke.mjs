// Runs in the root file system of an image, as its user: what it must be able to do.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";

const said = JSON.parse(readFileSync("/app/said.json", "utf8"));
const EXAMPLE = "/opt/pawl/examples/lead-enrichment";
const KEY = "a-key-that-only-this-test-has";

/** Once it is started. */
let server;

check("it is no root", process.getuid?.() === 10001);
check("the root file system is read-only", throws(() => writeFileSync("/opt/pawl/x", "")) === "EROFS");
check("`pawl --version`", /^\d+\.\d+\.\d+/.test(pawl("--version")), pawl("--version").trim());
const agent = ["--agent", `simulated:${EXAMPLE}.script.yaml`];
const ran = pawl("run", `${EXAMPLE}.yaml`, "--input", `${EXAMPLE}.input.json`, ...agent, "--json");
check("a run with simulated agents", JSON.parse(ran).data.status === "completed", `${ran.length} characters of JSON`);
if (said.target === "sandbox") {
  writeFileSync("/tmp/double.py", "def double(input):\n    return input['n'] * 2\n");
  const step =
    "{type: jit, target: {language: python, script: double.py, function: double}, inputMapping: {n: trigger.payload.n}, end: true}";
  writeFileSync("/tmp/double.yaml", `workflowId: double\nstartAt: twice\nsteps:\n  twice: ${step}\n`);
  const { outputs } = JSON.parse(pawl("run", "/tmp/double.yaml", "-i", "n=21", "--json")).data;
  check("a code step in Python, in its sandbox", outputs === 42, `21 doubled is ${outputs}`);
}

const [command, ...args] = [...JSON.parse(said.ENTRYPOINT), ...JSON.parse(said.CMD)];
const env = {
  ...process.env,
  API_KEY: KEY,
  LOG_LEVEL: "warn",
  PAWL_AGENT__PROVIDER: `simulated:${EXAMPLE}.script.yaml`,
};
server = spawn(command, args, { env, stdio: ["ignore", "ignore", "inherit"] });
const ended = once(server, "exit");
for (let tries = 0; (await ask("/ready").catch(() => ({ status: 0 }))).status !== 200; tries += 1) {
  if (tries === 300 || server.exitCode !== null) fail("`pawl serve` is ready");
  await setTimeout(100);
}
check("`pawl serve` is ready", true);
const [health, ...asked] = JSON.parse(said.HEALTHCHECK.replace(/^.*? CMD /, ""));
check("the health check", spawnSync(health, asked).status === 0);
const definition = readFileSync(`${EXAMPLE}.yaml`, "utf8");
const body = JSON.stringify({ workflow: definition, input: JSON.parse(readFileSync(`${EXAMPLE}.input.json`, "utf8")) });
const started = await (await ask("/workflows/run", { method: "POST", body })).json();
const runId = (started.data ?? started).run_id;
let run = { status: "none" };
for (let tries = 0; tries < 300 && !["completed", "failed"].includes(run.status); tries += 1) {
  await setTimeout(100);
  const told = await (await ask(`/runs/${runId}`)).json();
  run = told.data ?? told;
}
check("a run by HTTP", run.status === "completed", runId ?? JSON.stringify(started));
server.kill("SIGTERM");
check("SIGTERM ends it with 0", (await ended)[0] === 0);

function pawl(...words) {
  const { stdout, stderr, status } = spawnSync("pawl", words, { encoding: "utf8", cwd: "/tmp" });
  if (status !== 0) fail(`pawl ${words.join(" ")}`, `${status}\n${stdout}${stderr}`);
  return stdout;
}

function ask(path, { method = "GET", body } = {}) {
  const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
  return fetch(`http://127.0.0.1:8080${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
}

function throws(act) {
  try {
    act();
  } catch (error) {
    return error.code;
  }
}

function check(what, holds, more = "") {
  if (!holds) fail(what, more);
  console.log(`ok: ${what}${more === "" ? "" : ` (${more})`}`);
}

function fail(what, more = "") {
  console.log(`FAILED: ${what} ${more}`);
  server?.kill("SIGKILL");
  process.exit(1);
}
