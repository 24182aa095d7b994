import { spawn } from "node:child_process";
import { type BegunLogin, beginLogin, loginFailed } from "../../executors/mcp-servers/login/begin-login.ts";
import type { LoginVault } from "../../executors/mcp-servers/login/sealed-login.ts";
import type { ServerAddress } from "../../executors/mcp-servers/resolve-server.ts";
import type { LogInOptions } from "../../operations/application/ports.ts";
import type { Outbound } from "../../ports/outbound.ts";
import { listenOn } from "../server/listen-on.ts";
import { PATIENCE_MS } from "./page-logins.ts";

interface LogInParts {
  readonly address: ServerAddress;
  readonly outbound: Outbound;
  readonly vault: LoginVault;
}

const HEADERS = {
  "content-type": "text/plain; charset=utf-8",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
};

/** Sends a person to the issuer of a server's tokens, and waits on this machine until they are back. Returns what the login may do. */
export async function logIn(
  { address, outbound, vault }: LogInParts,
  { opensBrowser, tell, stop }: LogInOptions,
): Promise<string> {
  const given = URL.parse(("oauth" in address.way && address.way.oauth?.redirect_url) || "http://127.0.0.1:0/callback");
  if (given === null || given.protocol !== "http:" || !["127.0.0.1", "localhost"].includes(given.hostname))
    throw loginFailed(address.name, "`oauth.redirect_url` is no `http:` address of this machine");
  const back = Promise.withResolvers<string>();
  let login: BegunLogin | undefined;
  const listener = await listenOn(
    async (request) => {
      const { pathname, searchParams } = new URL(request.url);
      if (request.method !== "GET" || pathname !== given.pathname || login?.isAnswered(searchParams) !== true)
        return new Response("This is no answer to a login that is under way.\n", { status: 404, headers: HEADERS });
      // A code is good for one use.
      const finished = login.finish(searchParams);
      login = undefined;
      finished.then(back.resolve, back.reject);
      const isDone = await finished.then(
        () => true,
        () => false,
      );
      const text = isDone
        ? "You are logged in, and may close this page.\n"
        : "The login has failed: the terminal says why.\n";
      return new Response(text, { status: isDone ? 200 : 400, headers: HEADERS });
    },
    { address: "127.0.0.1", port: Number(given.port) },
  );
  const signal = AbortSignal.any([stop, AbortSignal.timeout(PATIENCE_MS)]);
  signal.addEventListener("abort", () =>
    back.reject(loginFailed(address.name, "nobody has come back from it in time")),
  );
  try {
    given.port = new URL(listener.url).port;
    login = await beginLogin(address, { redirectUrl: given.href, outbound, vault });
    tell(`Log in here, on this machine:\n\n  ${login.address.href}\n`);
    if (opensBrowser) openBrowser(login.address);
    return await back.promise;
  } finally {
    back.promise.catch(() => undefined);
    const closed = listener.close();
    listener.hurry(stop);
    await closed;
  }
}

/** Where there is none the person opens the address by hand. */
function openBrowser({ href }: URL): void {
  const [program = "", ...args] =
    process.platform === "darwin"
      ? ["open"]
      : process.platform === "win32"
        ? ["rundll32", "url.dll,FileProtocolHandler"]
        : ["xdg-open"];
  const child = spawn(program, [...args, href], { stdio: "ignore", detached: true });
  child.on("error", () => undefined);
  child.unref();
}
