import { useState } from "react";
import { useLocation } from "wouter";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Choice, TextField } from "../../parts/fields.tsx";
import { DIALECTS } from "./dialects.ts";
import { toAddress } from "./workflow-address.ts";

/** Asks for a name and a dialect. Nothing is saved yet. */
export function NewWorkflow({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState("");
  const [dialect, setDialect] = useState<string>("sandcastle");
  const [, go] = useLocation();
  const needsWord = dialect === "terminal" && name !== "" && !/^[a-zA-Z][a-zA-Z0-9_-]*$/.test(name);
  const begin = () => {
    if (name.trim() !== "" && !needsWord) go(`${toAddress(name.trim())}?new=${dialect}`);
  };
  return (
    <Dialog
      title="A new workflow"
      onClose={onClose}
      actions={
        <Button kind="main" disabled={name.trim() === "" || needsWord} onClick={begin}>
          Write it
        </Button>
      }
    >
      <form
        className="grid gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          begin();
        }}
      >
        <TextField
          label="Name"
          autoFocus
          value={name}
          note="It is started by it, and saved under it."
          error={needsWord ? "Letters, digits, _ and -, a letter first." : undefined}
          onChange={({ target }) => setName(target.value)}
        />
        <Choice label="Dialect" value={dialect} choices={DIALECTS} onPick={setDialect} />
      </form>
    </Dialog>
  );
}
