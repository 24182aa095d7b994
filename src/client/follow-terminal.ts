import { type Connection, type FollowFeedOptions, follow } from "./follow-run.ts";

/** What `GET /terminals/{id}/stream` tells: text for an emulator of terminals, and for nothing else. */
export type TerminalEvent =
  /** Everything anew: an empty terminal of this size that takes `data` shows it. */
  | {
      readonly event: "screen";
      readonly data: { readonly columns: number; readonly rows: number; readonly data: string };
    }
  | { readonly event: "output"; readonly data: { readonly data: string } }
  | { readonly event: "ended"; readonly data: { readonly exit_code: number | null } };

export type FollowTerminalOptions = Omit<FollowFeedOptions, "after">;

/**
 * What a terminal shows until its program has ended. Behind a lost connection it begins with the screen again. Throws `ApiError`,
 * `TERMINAL_NOT_FOUND` too when it is closed meanwhile. The server waits for who reads slowly: take one event when the one before is shown.
 */
export async function* followTerminal(
  server: Connection,
  id: string,
  options: FollowTerminalOptions,
): AsyncGenerator<TerminalEvent> {
  for await (const event of follow<TerminalEvent>(server, `/terminals/${encodeURIComponent(id)}/stream`, options)) {
    yield event;
    if (event.event === "ended") return;
  }
}
