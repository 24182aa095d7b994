import type { Violation } from "./canaries.ts";
import type { Part } from "./rounds.ts";

interface Defect {
  /** Who must find it. */
  readonly part: Part;
  readonly kind: Violation["kind"];
  /** In `src`. */
  readonly file: string;
  /** Must be there once: a defect that changes nothing would be a check that cannot fail. */
  readonly find: string;
  readonly put: string;
}

/** Defects that `--self-test` builds into the server, one at a time. */
export const DEFECTS: Readonly<Record<string, Defect>> = {
  "skipped tenant check": {
    part: "foreign",
    kind: "foreign",
    file: "operations/application/tenant-application.ts",
    find: "record?.tenantId === tenantId ? record : undefined",
    put: "record",
  },
  "a native RegExp": {
    part: "hostile",
    kind: "slow",
    file: "schemas/linear-pattern.ts",
    find: "{ regex: compile(rest), isWanted: true }",
    put: "{ regex: Object.assign(new RegExp(rest), { programSize: () => 1 }), isWanted: true }",
  },
  "a dropped fsync": {
    part: "syncs",
    kind: "lost",
    file: "storage/sqlite/open-database.ts",
    find: '"FULL" : "NORMAL"',
    put: '"OFF" : "OFF"',
  },
  "an unmasked variable": {
    part: "secrets",
    kind: "variable",
    file: "config/create-mask.ts",
    find: "if (ordered.length === 0) return (text) => text;",
    put: "return (text) => text;",
  },
  "an unguarded way out": {
    part: "definitions",
    kind: "address",
    file: "executors/outbound/address-rule.ts",
    find: "return isPublic(parsed) && isAsked(port);",
    put: "return true;",
  },
  "a program outside of its sandbox": {
    part: "programs",
    kind: "file",
    file: "executors/sandbox/choose-confinement.ts",
    find: "for (const confinement of bwrapWays(tools)) {",
    put: "return { confinement: await choosePlain(tools, attempt) };\n  for (const confinement of bwrapWays(tools)) {",
  },
};
