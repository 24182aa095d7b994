import { createRequire } from "node:module";
import { join } from "node:path";
import { PawlError } from "../../../core/errors/pawl-error.ts";

/** `@restatedev/restate-server` has a package with the program for each kind of machine. Throws `PACKAGE_MISSING`. */
export function findRestateProgram(): string {
  const require = createRequire(import.meta.url);
  const machine = `@restatedev/restate-server-${process.platform}-${process.arch}/package.json`;
  try {
    const found = createRequire(require.resolve("@restatedev/restate-server/package.json")).resolve(machine);
    return join(found, "..", "bin", "restate-server");
  } catch (cause) {
    throw new PawlError("PACKAGE_MISSING", {
      message: "The package @restatedev/restate-server with the program of Restate is not installed.",
      remedy: "npm install --save-dev @restatedev/restate-server@1.7.12",
      cause,
    });
  }
}

export interface RestatePorts {
  readonly ingress: number;
  readonly admin: number;
  /** For other servers of a cluster. */
  readonly node: number;
}

/** A server alone on loopback, which keeps its data in the folder. */
export function restateEnvironment(folder: string, { ingress, admin, node }: RestatePorts): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: folder,
    DO_NOT_TRACK: "1",
    RESTATE_DISABLE_TELEMETRY: "true",
    RESTATE_BASE_DIR: join(folder, "data"),
    // Otherwise each start leaves folders in that of the machine.
    RESTATE_WORKER__INVOKER__TMP_DIR: join(folder, "temporary"),
    RESTATE_NODE_NAME: "pawl",
    RESTATE_DEFAULT_NUM_PARTITIONS: "4",
    RESTATE_LISTEN_MODE: "tcp",
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
    RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
    RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${node}`,
  };
}
