import { useState } from "react";
import { useServer } from "../data/server.tsx";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { TextField } from "./fields.tsx";

/** The server wants a key, or another one. It stays in this tab and is sent in a header. */
export function AskForKey({ reason }: { readonly reason: string }) {
  const { keys } = useServer();
  const [key, setKey] = useState("");
  const send = () => key.trim() !== "" && keys.set(key.trim());
  return (
    <Dialog
      title="This server wants a key"
      onClose={() => undefined}
      actions={
        <Button kind="main" disabled={key.trim() === ""} onClick={send}>
          Use this key
        </Button>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <p className="mb-3 text-soft">{reason} The key stays in this tab until it is closed.</p>
        <TextField
          label="Key"
          type="password"
          autoFocus
          value={key}
          note="API_KEY of the server, or one that `pawl keys create` has made."
          onChange={(event) => setKey(event.target.value)}
        />
      </form>
    </Dialog>
  );
}
