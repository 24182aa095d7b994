import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { findFreePort } from "../../support/free-port.ts";
import { programOf } from "../../support/needs.ts";

/** A server of SSH on this machine, for this user and one key, and the command that connects to it. */
export async function openSshServer(): Promise<{ readonly command: string }> {
  const program = programOf("sshd");
  const folder = mkdtempSync(join(tmpdir(), "pawl-sshd-"));
  const path = (name: string) => join(folder, name);
  for (const key of ["host", "user"]) execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", path(key)]);
  writeFileSync(path("authorized"), readFileSync(path("user.pub")), { mode: 0o600 });
  const port = await findFreePort();
  const options = [
    ...[`ListenAddress=127.0.0.1:${port}`, `HostKey=${path("host")}`, `AuthorizedKeysFile=${path("authorized")}`],
    ...["StrictModes=no", "UsePAM=no", "PasswordAuthentication=no", `PidFile=${path("pid")}`],
  ];
  // Root's server wants its folder.
  if (userInfo().uid === 0) mkdirSync("/run/sshd", { recursive: true });
  const server = spawn(program, ["-D", "-e", "-f", "/dev/null", ...options.flatMap((option) => ["-o", option])]);
  let said = "";
  server.stderr.on("data", (data: Buffer) => {
    said += data.toString();
  });
  onTestFinished(() => {
    server.kill();
    rmSync(folder, { recursive: true });
  });
  while (!said.includes("listening") && server.exitCode === null) await sleep(20);
  if (server.exitCode !== null) throw new Error(said);
  const client = ["-F /dev/null", `-i ${path("user")}`, `-p ${port}`, "-o StrictHostKeyChecking=no"];
  return { command: `ssh ${client.join(" ")} -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR 127.0.0.1` };
}
