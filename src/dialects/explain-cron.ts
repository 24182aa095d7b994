/** Why a cron expression cannot be used; undefined if it can. Five fields, or a nickname such as `@daily`. */
export async function explainCron(expression: string): Promise<string | undefined> {
  const isNickname = expression.startsWith("@");
  if (isNickname && !/^@(yearly|annually|monthly|weekly|daily|midnight|hourly)$/i.test(expression.trim()))
    return "The nicknames are @yearly, @monthly, @weekly, @daily and @hourly.";
  if (!isNickname && expression.trim().split(/\s+/).length !== 5)
    return "A cron expression has five fields: minute, hour, day, month, weekday.";
  if (expression.includes("?")) return "`?` stands for the moment at which it is read: write `*`, or the value.";
  const { CronPattern } = await import("croner");
  try {
    new CronPattern(expression.trim(), "UTC", { mode: "5-part" });
    return undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `${reason.replace(/^CronPattern: /, "").replace(/\.+$/, "")}.`;
  }
}
