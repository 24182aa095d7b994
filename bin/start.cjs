"use strict";

// Set by pawl.cjs when it had to look for a newer Node. Whoever kills that process means us: do not live on without it.
const wrapperPid = process.env.PAWL_WRAPPER_PID;
if (wrapperPid !== undefined) {
  delete process.env.PAWL_WRAPPER_PID;
  setInterval(() => {
    if (process.ppid !== Number(wrapperPid)) process.kill(process.pid, "SIGKILL");
  }, 100).unref();
}

require("node:module").enableCompileCache?.();

import("../dist/main.js").catch((error) => {
  const isNotBuilt = error.code === "ERR_MODULE_NOT_FOUND" && error.url?.endsWith("/dist/main.js");
  console.error(isNotBuilt ? "pawl is not built yet: run `npm run build` in its folder." : error);
  process.exit(isNotBuilt ? 2 : 1);
});
