import type { ApiError } from "pawl/client";
import { useCallback, useRef, useState } from "react";
import { useServer } from "../../data/server.tsx";

/** As the server takes it at once. */
const MOST_CHARACTERS = 10_000;
/** A refusal stays in sight for so long, whatever is typed meanwhile. */
const TOLD_MS = 6_000;

/** Types into a terminal. What is typed while a piece is on its way is sent behind it, in order; a refused piece is told and left out. */
export function useTyping(id: string) {
  const { client } = useServer();
  const [error, setError] = useState<ApiError>();
  const waiting = useRef<string[]>([]);
  const isSending = useRef(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const type = useCallback(
    async (text: string) => {
      waiting.current.push(text);
      if (isSending.current) return;
      isSending.current = true;
      try {
        while (waiting.current.length > 0) {
          await client.call("POST /terminals/{id}/keys", { id, text: takePiece(waiting.current) });
        }
      } catch (refused) {
        waiting.current = [];
        setError(refused as ApiError);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => setError(undefined), TOLD_MS);
      } finally {
        isSending.current = false;
      }
    },
    [client, id],
  );
  return { type, error };
}

/** What was typed at once stays whole: that it is too long is for the server to say. */
function takePiece(waiting: string[]): string {
  let piece = waiting.shift() ?? "";
  for (let [next] = waiting; next !== undefined && piece.length + next.length <= MOST_CHARACTERS; [next] = waiting) {
    piece += next;
    waiting.shift();
  }
  return piece;
}
