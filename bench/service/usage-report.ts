/** Preloaded into a measured process: says what it has used, and what it holds when everything that nobody needs has been collected. */
process.on("message", (asked) => {
  if (asked === "memory") globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  process.send?.({ rss, heapUsed, cpuMs: (user + system) / 1_000 });
});
process.channel?.unref();
