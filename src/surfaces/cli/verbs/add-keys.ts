import { type Command, InvalidArgumentError } from "commander";
import type { KeyScope } from "../../../ports/api-keys.ts";
import type { CommonOptions } from "../cli-context.ts";
import type { CreateKeyOptions } from "../commands/keys.ts";
import { withCommon } from "./common-options.ts";
import { toAmount, toCount } from "./option-values.ts";
import type { Perform } from "./perform.ts";

/** `pawl keys`. */
export function addKeys(program: Command, perform: Perform): void {
  const keys = program.command("keys").description("who may use the service over HTTP");
  withCommon(keys.command("ls").description("list them")).action(async (options: CommonOptions) => {
    await perform(
      options,
      async (app) => (await import("../commands/keys.ts")).listKeysCommand(app, options),
      async (parts) => (await import("../remote/care.ts")).listKeys(parts, options),
    );
  });
  withCommon(keys.command("create").description("make a key; it is shown this once"))
    .argument("<name>", "who it is for")
    .option("--scopes <list>", "read, run, write, admin; each includes those before it", toScopes, ["run"])
    .option("--tenant <id>", "it sees and starts runs of this tenant only")
    .option("--max-cost <usd>", "what one run that it starts may cost", toAmount)
    .option("--days <n>", "it expires after so many", toCount)
    .action(async (name: string, options: CreateKeyOptions) => {
      await perform(
        options,
        async (app) => (await import("../commands/keys.ts")).createKeyCommand(app, name, options),
        async (parts) => (await import("../remote/care.ts")).createKey(parts, name, options),
      );
    });
  withCommon(keys.command("revoke").description("from now on it opens nothing"))
    .argument("<id>")
    .action(async (id: string, options: CommonOptions) => {
      await perform(
        options,
        async (app) => (await import("../commands/keys.ts")).revokeKeyCommand(app, id, options),
        async (parts) => (await import("../remote/care.ts")).revokeKey(parts, id, options),
      );
    });
}

function toScopes(text: string): readonly KeyScope[] {
  const names = text.split(",").map((name) => name.trim());
  const scopes = KEY_SCOPES.filter((scope) => names.includes(scope));
  if (names.length > 0 && scopes.length === new Set(names).size) return scopes;
  throw new InvalidArgumentError(`It must be some of ${KEY_SCOPES.join(", ")}, separated by commas.`);
}

const KEY_SCOPES: readonly KeyScope[] = ["read", "run", "write", "admin"];
