import { type Command, InvalidArgumentError } from "commander";
import type { DeliveryStatus } from "../../../ports/deliveries.ts";
import type { CommonOptions } from "../cli-context.ts";
import type { ListWebhooksOptions, VerifyOptions } from "../commands/webhooks.ts";
import { collect, withCommon } from "./common-options.ts";
import { toCount } from "./option-values.ts";
import type { Perform } from "./perform.ts";

/** `pawl webhooks`. */
export function addWebhooks(program: Command, perform: Perform): void {
  const webhooks = program.command("webhooks").description("what is told to other servers");
  withCommon(webhooks.command("ls").description("list deliveries, newest first"))
    .option("--run <id>", "of this run")
    .option("--status <list>", "pending, delivered, failed, skipped, separated by commas", toDeliveryStatuses)
    .option("--limit <n>", "at most so many", toCount, 20)
    .option("--cursor <id>", "go on after this one")
    .action(async (options: ListWebhooksOptions) => {
      await perform(
        options,
        async (app) => (await import("../commands/webhooks.ts")).listWebhooksCommand(app, options),
        async (parts) => (await import("../remote/care.ts")).listWebhooks(parts, options),
      );
    });
  withCommon(webhooks.command("show").description("show a delivery and its tries"))
    .argument("<id>")
    .action(async (id: string, options: CommonOptions) => {
      await perform(
        options,
        async (app) => (await import("../commands/webhooks.ts")).showWebhookCommand(app, id, options),
        async (parts) => (await import("../remote/care.ts")).showWebhook(parts, id, options),
      );
    });
  withCommon(webhooks.command("resend").description("deliver it again, with the same id"))
    .argument("<id>")
    .action(async (id: string, options: CommonOptions) => {
      await perform(
        options,
        async (app) => (await import("../commands/webhooks.ts")).resendWebhookCommand(app, id, options),
        async (parts) => (await import("../remote/care.ts")).resendWebhook(parts, id, options),
      );
    });
  withCommon(webhooks.command("verify").description("check a message that was received, with WEBHOOK_SECRET"))
    .argument("[file]", "its body, byte for byte; - reads it from stdin", "-")
    .option("-H, --header <header>", "'name: value', as received; more than once", collect, [])
    .action(async (file: string, options: VerifyOptions) => {
      await perform(options, async (app) =>
        (await import("../commands/webhooks.ts")).verifyWebhookCommand(app, file, options),
      );
    });
}

function toDeliveryStatuses(text: string): readonly DeliveryStatus[] {
  const names = text.split(",").map((name) => name.trim());
  const statuses = DELIVERY_STATUSES.filter((status) => names.includes(status));
  if (statuses.length === new Set(names).size) return statuses;
  throw new InvalidArgumentError(`It must be some of ${DELIVERY_STATUSES.join(", ")}, separated by commas.`);
}

const DELIVERY_STATUSES: readonly DeliveryStatus[] = ["pending", "delivered", "failed", "skipped"];
