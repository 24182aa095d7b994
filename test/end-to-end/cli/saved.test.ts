import { expect, test } from "vitest";
import { application } from "../support/application.ts";
import { pawl } from "../support/pawl.ts";
import { startServer } from "../support/server.ts";

const TIDY = `
name: tidy
schedule: "0 6 * * *"
on_complete: { webhook: "https://ops.example/?key=\${OPS_KEY}" }
steps:
  - { id: ask, type: approval, approval_config: { message: Go on? } }
`;

test.each(["here", "through a server"])(
  "what is saved %s is armed, warned of, and disarmed when it is removed",
  async (where) => {
    const cwd = application({ "tidy.yaml": TIDY });
    const { url } =
      where === "here" ? { url: "" } : await startServer([], { cwd, env: { PAWL_SERVER__GRANT: "variables:OPS_KEY" } });
    const ask = (...args: readonly string[]) => pawl([...args, ...(url === "" ? [] : ["--url", url])], { cwd });
    const saved = await ask("workflows", "save", "tidy.yaml");
    expect(saved).toMatchObject({ code: 0, stderr: expect.stringContaining("`on_complete.webhook` is not called") });
    expect((await ask("schedules", "ls")).stdout).toMatch(/tidy +0 6 \* \* \* +UTC +saved/);
    expect(await ask("workflows", "rm", "tidy")).toMatchObject({ code: 0 });
    expect((await ask("schedules", "ls")).stdout).toContain("not saved any more");
  },
);
