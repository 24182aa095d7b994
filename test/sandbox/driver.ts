import { createSandbox, type SandboxOptions } from "../../src/executors/sandbox/create-sandbox.ts";
import type { SandboxSpec } from "../../src/executors/sandbox/sandbox.ts";

/**
 * A process of its own that runs one program in a sandbox and says how it ended: `driver.ts '{"options", "spec"}'`.
 * Tests kill it, or start it as another user.
 */
const { options, spec } = JSON.parse(process.argv[2] ?? "{}") as {
  readonly options: SandboxOptions;
  readonly spec: SandboxSpec;
};
const { kind, ending, stdout, stderr } = await createSandbox(options).runSandboxed(spec, new AbortController().signal);
process.stdout.write(JSON.stringify({ kind, ending, stdout: stdout.toString(), stderr: stderr.toString() }));
