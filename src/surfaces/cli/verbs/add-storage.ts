import type { Command } from "commander";
import type { StorageOptions } from "../commands/storage.ts";
import { withCommon } from "./common-options.ts";
import { perTenant } from "./per-tenant.ts";
import type { Perform } from "./perform.ts";

/** `pawl storage`. */
export function addStorage(program: Command, perform: Perform): void {
  const storage = program.command("storage").description("the application's own files");
  const load = () => import("../commands/storage.ts");
  const own = (command: Command) => withCommon(command).option("--tenant <id>", "of this tenant");
  const performOwn = perTenant(perform);
  own(storage.command("ls").description("list stored files"))
    .argument("[prefix]", "how their paths begin", "")
    .action(async (prefix: string, options: StorageOptions) => {
      await performOwn(
        options,
        async (app) => (await load()).listStorage(app, prefix, options),
        async (parts) => (await import("../remote/files.ts")).listStorage(parts, prefix, options),
      );
    });
  own(storage.command("get").description("write a stored file to stdout"))
    .argument("<path>")
    .action(async (path: string, options: StorageOptions) => {
      await performOwn(
        options,
        async (app) => (await load()).getStorage(app, path, options),
        async (parts) => (await import("../remote/files.ts")).getStorage(parts, path),
      );
    });
  own(storage.command("put").description("store a file"))
    .argument("<path>")
    .argument("<file>", "where it is; - is stdin")
    .action(async (path: string, source: string, options: StorageOptions) => {
      await performOwn(
        options,
        async (app) => (await load()).putStorage(app, { path, source }, options),
        async (parts) => (await import("../remote/files.ts")).putStorage(parts, { path, source }),
      );
    });
  own(storage.command("rm").description("remove a stored file"))
    .argument("<path>")
    .action(async (path: string, options: StorageOptions) => {
      await performOwn(
        options,
        async (app) => (await load()).removeStorage(app, path, options),
        async (parts) => (await import("../remote/files.ts")).removeStorage(parts, path),
      );
    });
}
