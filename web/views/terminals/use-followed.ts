import type { ApiError } from "pawl/client";
import { useEffect, useState } from "react";
import { isKeyError } from "../../data/key-store.ts";
import { useServer } from "../../data/server.tsx";
import type { Emulator } from "./emulator.ts";

export type Followed =
  | { readonly is: "connecting" | "live" | "lost" }
  | { readonly is: "ended"; readonly exitCode: number | null }
  | { readonly is: "refused"; readonly error: ApiError };

/** Shows a terminal in the emulator, live until it has ended. The next piece is taken when the one before is to be seen. */
export function useFollowed(id: string, emulator: Emulator | undefined): Followed {
  const { client, keys } = useServer();
  const [followed, setFollowed] = useState<Followed>({ is: "connecting" });
  useEffect(() => {
    if (emulator === undefined) return;
    const stop = new AbortController();
    let isShown = false;
    const follow = async () => {
      const options = { signal: stop.signal, lost: () => setFollowed({ is: "lost" }) };
      for await (const { event, data } of client.followTerminal(id, options)) {
        if (stop.signal.aborted) return;
        if (event === "ended") return setFollowed({ is: "ended", exitCode: data.exit_code });
        if (event === "output") await emulator.write(data.data);
        else {
          await emulator.show(data);
          isShown = true;
          setFollowed({ is: "live" });
        }
      }
    };
    follow().catch((error: ApiError) => {
      if (stop.signal.aborted) return;
      if (isKeyError(error)) keys.ask(error);
      // It was closed: what it showed last stays.
      if (isShown && error.code === "TERMINAL_NOT_FOUND") return setFollowed({ is: "ended", exitCode: null });
      setFollowed({ is: "refused", error });
    });
    return () => stop.abort();
  }, [client, keys, id, emulator]);
  return followed;
}
